// Caches that a gate folder keeps from the previous gate: build folders whose tools detect stale
// files themselves. They are kept only if the work that filled them has landed, because leftovers
// of a refused candidate could falsify the next result.

import { gateCommands } from '../../core/settings/gate-stages.ts';
import { allLines, commandVerdict } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';

/** Without its manifest beside it, a folder with this name could be anything. */
const manifests: Readonly<Record<string, string>> = { target: 'Cargo.toml' };

/** Build folders that may stay. Called before the gate folder switches to another commit. */
export async function keptCaches(
  engine: Uses<'files' | 'git' | 'settings' | 'store'>,
  { path, command }: { readonly path: string; readonly command: string },
): Promise<readonly string[]> {
  const { files, settings } = engine;
  const found: string[] = [];
  for (const name of settings().gateKeeps) {
    const manifest = manifests[name];
    if (manifest !== undefined && !(await files.exists(`${path}/${manifest}`))) continue;
    if (await files.exists(`${path}/${name}`)) found.push(name);
  }
  return found.length > 0 && (await hasLanded(engine, path, command)) ? found : [];
}

/** Whether the last commit tested in this folder was green and is on a line. */
async function hasLanded(
  engine: Uses<'git' | 'store'>,
  path: string,
  command: string,
): Promise<boolean> {
  const { git, store } = engine;
  const status = await git.status(path);
  if (!status.ok) return false;
  const { head } = status.value;
  const tree = await git.treeOf(head);
  if (!tree.ok) return false;
  const verdicts: (number | undefined)[] = [];
  for (const one of gateCommands(command))
    verdicts.push((await commandVerdict(store.db, tree.value, one))?.ok);
  // Skipped stages have no verdict.
  if (verdicts.includes(0) || !verdicts.includes(1)) return false;
  for (const { landed_sha: tip } of await allLines(store.db)) {
    if (await git.isAncestor(head, tip)) return true;
  }
  return false;
}
