// Which addresses a name may resolve to. An allowed name must not become a way to services of this
// machine or to a cloud's metadata, whatever its name server answers.

import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { hostName, isOwnMachine, type HostRule } from '../../core/settings/network-hosts.ts';

function blockList(v4: readonly string[], v6: readonly string[]): BlockList {
  const list = new BlockList();
  const add = (range: string, family: 'ipv4' | 'ipv6'): void => {
    const [address = '', bits = '0'] = range.split('/');
    list.addSubnet(address, Number(bits), family);
  };
  for (const range of v4) add(range, 'ipv4');
  for (const range of v6) add(range, 'ipv6');
  return list;
}

/**
 * This machine, link-local addresses, metadata services, multicast: allowed only by a rule that is
 * an address.
 */
const ownAddresses = blockList(
  ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/3'],
  ['::/127', 'fe80::/10', 'ff00::/8', 'fd00:ec2::/32'],
);

/** Private networks: allowed only by a rule that is the complete name. */
const privateAddresses = blockList(
  ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', '198.18.0.0/15'],
  ['fc00::/7', 'fec0::/10', '64:ff9b::/96', '2002::/16'],
);

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** The first address that the rule allows; null if there isn't one. */
export async function addressFor(rule: HostRule, host: string): Promise<Address | null> {
  const name = hostName(host);
  const family = isIP(name);
  if (family !== 0) return { address: name, family };
  if (name === 'localhost') return { address: name, family: 0 };
  const found = await lookup(name, { all: true, order: 'ipv4first' }).catch(() => []);
  return found.find((one) => mayBe(rule, one)) ?? null;
}

/** Whether the rule allows a connection to this address. */
export function mayBe(rule: HostRule, { address }: Address): boolean {
  if (isOwnMachine(rule.name)) return true;
  const mapped = /^::ffff:(.*)$/i.exec(address);
  const plain = mapped?.[1] ?? address;
  const kind = isIP(plain) === 4 ? 'ipv4' : 'ipv6';
  // An IPv4-mapped IPv6 address that is not written with dots.
  if (mapped !== null && kind === 'ipv6') return false;
  if (ownAddresses.check(plain, kind)) return false;
  return !rule.name.startsWith('*.') || !privateAddresses.check(plain, kind);
}
