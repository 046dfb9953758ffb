// Writes the provisioner into the text of a `.drover.toml` and leaves everything else unchanged.
// Pure.

import { withTable, withTopValue } from '../../server/core/settings/toml-text.ts';

export interface RemoteSetup {
  /** Keys of `[remote]` with their values. */
  readonly remote: Readonly<Record<string, string>>;
  /** Whether all tasks run on workers; null keeps the file's value. */
  readonly runsOn: 'remote' | 'local' | null;
}

/** Returns null if only a person can change the file. */
export function withRemote(text: string, { remote, runsOn }: RemoteSetup): string | null {
  const changed = withTable(text, 'remote', remote);
  if (changed === null || runsOn === null) return changed;
  return withTopValue(changed, 'runs_on', runsOn);
}

/**
 * Names of single hosts in the user's ssh configuration: names in `Host` lines without wildcards.
 */
export function parseSshHosts(sshConfig: string): readonly string[] {
  const names = sshConfig
    .split(/\r?\n/)
    .flatMap((line) => /^\s*Host(?:\s+|\s*=\s*)(.+)$/i.exec(line)?.[1]?.trim().split(/\s+/) ?? []);
  return [...new Set(names.map((name) => name.replaceAll('"', '')))].filter(
    (name) => name !== '' && !/[*?!]/.test(name),
  );
}
