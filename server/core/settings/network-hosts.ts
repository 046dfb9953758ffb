// The hosts that a confined program may reach, from `[sandbox] network`: single hosts with a port,
// and whole domains. Rules are matched by name; addresses are checked when the connection is made.

export interface HostRule {
  /** Lower case. A leading `*.` matches every subdomain. */
  readonly name: string;
  /** `web`: ports 80 and 443. */
  readonly port: number | 'web' | 'any';
}

export const hostRuleExpected =
  'hosts such as "registry.npmjs.org", "*.example.com", "localhost:5432" or "[::1]:5432"';

const namePattern =
  /^(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;

/** Returns null if the text is not a host rule. */
export function parseHostRule(text: string): HostRule | null {
  const match = /^(\[[0-9a-f:.]+\]|[^:[\]/@\s]+)(?::([0-9]{1,5}|\*))?$/.exec(text.toLowerCase());
  const name = hostName(match?.[1] ?? '');
  if (match === null || name.length > 253) return null;
  if (!name.includes(':') && !namePattern.test(name)) return null;
  const port = match[2];
  if (port === undefined) return { name, port: 'web' };
  if (port === '*') return { name, port: 'any' };
  const number = Number(port);
  return number >= 1 && number <= 65_535 ? { name, port: number } : null;
}

/** Normalizes a name for comparison: removes a trailing dot and the brackets of an address. */
export function hostName(text: string): string {
  return text
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

/** Returns the rule that allows the connection, or null. */
export function findRule(rules: readonly HostRule[], host: string, port: number): HostRule | null {
  const name = hostName(host);
  const isPort = (rule: HostRule): boolean =>
    rule.port === 'any' || (rule.port === 'web' ? port === 80 || port === 443 : rule.port === port);
  const isName = (rule: HostRule): boolean =>
    rule.name.startsWith('*.')
      ? name.endsWith(rule.name.slice(1))
      : rule.name === name || (isOwnMachine(rule.name) && isOwnMachine(name));
  return rules.find((rule) => isPort(rule) && isName(rule)) ?? null;
}

/** Whether the name means this machine, whose services have no other name. */
export function isOwnMachine(name: string): boolean {
  return name === 'localhost' || name === '::1' || /^127\.\d+\.\d+\.\d+$/.test(name);
}

/** Ports of this machine that rules allow individually. */
export function ownPorts(rules: readonly string[]): readonly number[] {
  const parsed = rules.flatMap((rule) => parseHostRule(rule) ?? []);
  return parsed.flatMap(({ name, port }) => {
    if (!isOwnMachine(name) || port === 'any') return [];
    return port === 'web' ? [80, 443] : [port];
  });
}
