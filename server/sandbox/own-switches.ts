// Sandboxes built into agents, switched on so that the agent starts nothing if its sandbox does not
// work. An agent whose sandbox fails silently has no entry here.

import { parseHostRule } from '../core/settings/network-hosts.ts';

export interface OwnSandbox {
  /** `open`: the agent asks for each host. Otherwise its commands only reach the listed hosts. */
  readonly network: 'open' | 'none' | 'model-only' | readonly string[];
  /** Additional folders that its commands may write to. */
  readonly write: readonly string[];
}

/** The arguments to add to the agent's; null if it has no such sandbox. */
export function ownSandboxArguments(kind: string, wanted: OwnSandbox): readonly string[] | null {
  return kind === 'claude' ? ['--settings', JSON.stringify(claudeSettings(wanted))] : null;
}

/** Whether the user's arguments set an option that ours would override. */
export function setsOwnSandbox(args: readonly string[]): boolean {
  return args.some((arg) => arg === '--settings' || arg.startsWith('--settings='));
}

function claudeSettings({ network, write }: OwnSandbox): object {
  return {
    sandbox: {
      enabled: true,
      failIfUnavailable: true,
      allowUnsandboxedCommands: false,
      enableWeakerNestedSandbox: false,
      filesystem: { allowWrite: write },
      ...(network !== 'open' && {
        network: { allowedDomains: domainsOf(network), strictAllowlist: true },
      }),
    },
  };
}

/** Claude Code allows host names without ports. */
function domainsOf(network: Exclude<OwnSandbox['network'], 'open'>): readonly string[] {
  if (typeof network === 'string') return [];
  return network.flatMap((rule) => parseHostRule(rule)?.name ?? []);
}
