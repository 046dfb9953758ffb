// `drover doctor --sandbox`: tests which accesses escape this project's sandbox.

import { homedir } from 'node:os';
import { probeSandbox } from '../sandbox/probes.ts';
import { LiveSettings } from '../project/live-settings.ts';
import { bwrapProgram, sandboxState } from './sandbox-state.ts';

export interface ProbeView {
  readonly probe: string;
  readonly stopped: boolean;
}

export async function probeConfinement(root: string): Promise<readonly ProbeView[]> {
  const { sandbox } = (await LiveSettings.load(root, process.env, {})).settings;
  const { holds } = await sandboxState(sandbox);
  return await probeSandbox({
    program: holds === 'bwrap' ? bwrapProgram() : null,
    network: sandbox.network === 'open' ? 'open' : 'none',
    home: process.env['HOME'] ?? homedir(),
  });
}
