// Sandboxes that agents bring themselves, switched on so that the agent starts nothing where its
// sandbox does not hold. An agent whose sandbox gives way in silence has no entry here.

export interface OwnSandbox {
  /** `open`: the agent asks for each host. Otherwise it reaches its model, its commands nothing. */
  readonly network: 'open' | 'none' | 'model-only';
  /** Further folders that its commands may write. */
  readonly write: readonly string[];
}

/** What is added to the agent's arguments; null where it has no such sandbox. */
export function ownSandboxArguments(kind: string, wanted: OwnSandbox): readonly string[] | null {
  return kind === 'claude' ? ['--settings', JSON.stringify(claudeSettings(wanted))] : null;
}

/** Whether the person's arguments set what ours would replace. */
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
      ...(network === 'open' ? {} : { network: { allowedDomains: [], strictAllowlist: true } }),
    },
  };
}
