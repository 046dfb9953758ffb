// Planted faults: each removes one mechanism from a copy of the program, to show that schedules
// would detect its loss. The product's sources do not contain them: a line is replaced while the
// copy is bundled.

import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { commandPrograms, programBundles } from '../../build/bundled-programs.mjs';
import type { Often } from './schedule.ts';

interface Change {
  readonly file: string;
  /** Occurs in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

interface PlantedFault extends Change {
  /** A seed that finds it, which is tried first. */
  readonly seed?: number;
  /** Kinds of violations, any of which counts as finding it. */
  readonly breaks: readonly string[];
  /** Another mechanism that would hide the loss of this one. */
  readonly also?: Change;
  /** Actions that it needs, which are drawn more often. */
  readonly often: Often;
}

export const plantedFaults: { readonly [name: string]: PlantedFault } = {
  'empty-without-snapshot': {
    seed: 7,
    breaks: ['lost'],
    file: 'server/git/slots/slots.ts',
    find: '    const emptied: GitResult<EmptiedSlot> = isGateSlot(worktree)',
    replace: '    const emptied: GitResult<EmptiedSlot> = round > 0',
    often: ['edit-a-slot', 'retry', 'fail'],
  },
  'leave-what-is-found': {
    seed: 1,
    breaks: ['foreign', 'unclean', 'lost'],
    file: 'server/git/slots/slot-emptying.ts',
    find: '    if (!isDirty(status.value) || isRemade) {',
    replace: '    if (status.ok) {',
    often: ['edit-a-slot', 'fail'],
  },
  'force-the-checkout': {
    seed: 2,
    breaks: ['not-ours', 'lost'],
    file: 'server/git/follow/checkout.ts',
    find: "[...mergeSettings, 'merge', ...how, to]",
    replace: "how.length > 0 ? ['reset', '-q', '--hard', to] : mergeSettings",
    often: ['edit', 'stage-and-edit', 'stage'],
  },
  'bring-back-what-was-taken-out': {
    seed: 23,
    breaks: ['came-back', 'blamed'],
    file: 'server/workflows/line/range.ts',
    find: '  if (base === null || (await git.isAncestor(base, head))) return null;',
    replace: '  if (base === null || git !== null) return null;',
    often: ['amend-a-secret-away', 'amend'],
  },
  'every-gate-is-green': {
    seed: 4,
    breaks: ['red'],
    file: 'server/workflows/landing/gate-try.ts',
    find: "    ok: outcome.kind === 'exited' && outcome.exitCode === 0,",
    replace: '    ok: true,',
    often: ['red-gate'],
  },
  'trust-index-flags': {
    seed: 23,
    breaks: ['unclean', 'foreign', 'not-landed', 'stuck', 'lost'],
    file: 'server/git/slots/slot-emptying.ts',
    find: '  if (unwatched.length === 0) return ok(undefined);',
    replace: '  if (unwatched !== null) return ok(undefined);',
    often: ['hide-by-flag', 'pick-in-progress'],
  },
  'trust-ignore-files': {
    seed: 1,
    breaks: ['not-landed', 'unclean', 'lost'],
    file: 'server/git/slots/slot-emptying.ts',
    find: '    if (hiding.length === 0) return status;',
    replace: '    if (hiding.length >= 0) return status;',
    also: {
      file: 'server/git/slots/slots.ts',
      find: '  const ignored = isLeft ? emptied.ignored : [];',
      replace: '  const ignored = isLeft ? [] : [];',
    },
    often: ['hide-all'],
  },
  'leave-orphans': {
    seed: 12,
    breaks: ['foreign', 'unclean', 'left-over', 'lost'],
    file: 'server/agents/kit/process/orphans.ts',
    find: '  if (found.length === 0) return;',
    replace: '  if (found.length >= 0) return;',
    also: {
      file: 'server/agents/kit/process/run-group.ts',
      find: '  return ownFolder === null ? null : makeGroup(ownFolder, runId);',
      replace: '  return null;',
    },
    often: ['background-hidden'],
  },
  'call-everything-landed': {
    seed: 9,
    breaks: ['not-landed', 'stuck'],
    file: 'server/workflows/run/run-epic.ts',
    find: '  return [...found].map(([branch, tasks]) => ({ branch, tasks }));',
    replace:
      '  return found.size < 0 ? [...found].map(([branch, tasks]) => ({ branch, tasks })) : [];',
    often: ['pause', 'second-run'],
  },
  'blame-for-the-base': {
    seed: 31,
    breaks: ['blamed'],
    file: 'server/workflows/landing/test-merge.ts',
    find: '    return (await redOfBase(engine, { line, commit: base, command, redSinceMs }, stop)) ?? verdict;',
    replace: '      return verdict;',
    often: ['break-the-gate'],
  },
  'land-an-epic-again': {
    seed: 9,
    breaks: ['again', 'stuck', 'not-landed'],
    file: 'server/workflows/line/landed.ts',
    find: '    if (held === sha || (await engine.git.isAncestor(sha, held))) return commit;',
    replace: '    if (held === sha && held === target) return commit;',
    often: ['amend', 'epic'],
  },
  'marks-of-all-projects': {
    seed: 29,
    breaks: ['blamed'],
    file: 'server/workflows/kit/run-ids.ts',
    find: '  return `${places.mark}/${taskId}/${attempt}/${part ?? taskId}`;',
    replace: '  return `${places.mark.slice(0, 0)}/${taskId}/${attempt}/${part ?? taskId}`;',
    often: ['slow'],
  },
};

const root = resolve(import.meta.dirname, '..', '..');

/** Bundles a copy of the program without the mechanism; resolves with the path of its `drover`. */
export async function faultyProgram(name: string, folder: string): Promise<string> {
  const planted = plantedFaults[name];
  if (planted === undefined) throw new Error(`there is no fault ${name}`);
  const outdir = join(folder, name);
  mkdirSync(outdir, { recursive: true });
  const changes = [planted, planted.also].filter((change) => change !== undefined);
  const left = new Set(changes);
  const options = programBundles(commandPrograms, outdir);
  await build({
    ...options,
    absWorkingDir: root,
    logLevel: 'error',
    plugins: [
      {
        name: 'planted-fault',
        setup: (bundling) => {
          bundling.onLoad({ filter: /\.ts$/ }, ({ path }) => {
            const change = changes.find(({ file }) => path === join(root, file));
            if (change === undefined) return null;
            const text = readFileSync(path, 'utf8');
            if (text.split(change.find).length !== 2)
              throw new Error(`${change.file} does not hold once: ${change.find}`);
            left.delete(change);
            return { contents: text.replace(change.find, () => change.replace), loader: 'ts' };
          });
        },
      },
      ...(options.plugins ?? []),
    ],
  });
  for (const { file } of left) throw new Error(`${file} is in none of the programs`);
  cpSync(join(root, 'bin', 'cli.mjs'), join(outdir, 'cli.js'));
  return join(outdir, 'cli.js');
}
