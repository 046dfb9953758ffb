// The hosts that a confined program may reach, and how its command is wrapped for that.

import { ownPorts } from '../core/settings/network-hosts.ts';
import type { SandboxSettings } from '../core/settings/sandbox-settings.ts';
import { modelHosts } from '../sandbox/network/model-hosts.ts';
import { ownProgram } from '../project/own-program.ts';

/** A list names the only hosts that may be reached. */
export type ConfinedNetwork = 'open' | 'none' | readonly string[];

/** `guest`: a kind of agent, `gate` or `setup`. */
export function confinedNetwork(
  guest: string,
  env: Readonly<Record<string, string>>,
  settings: SandboxSettings,
): ConfinedNetwork {
  const { network, gateNetwork, setupNetwork } = settings;
  if (guest === 'gate' || guest === 'setup') {
    const own = guest === 'gate' ? gateNetwork : setupNetwork;
    const wanted = own ?? network;
    return wanted === 'model-only' ? 'none' : wanted;
  }
  if (network === 'open' || network === 'none') return network;
  const model = modelHosts(guest, env, env['HOME'] ?? '');
  return network === 'model-only' ? model : [...new Set([...model, ...network])];
}

/** The network gate runs around the sandbox and, a second time, inside it around the program. */
export function withNetworkGate(
  rules: readonly string[],
  walls: readonly string[],
  program: readonly string[],
): readonly string[] {
  const gate = [process.execPath, ownProgram('network-gate.cjs', 'network-gate')];
  const inside = [...gate, 'inside', JSON.stringify(ownPorts(rules)), ...program];
  return [...gate, 'outside', JSON.stringify(rules), ...walls, ...inside];
}
