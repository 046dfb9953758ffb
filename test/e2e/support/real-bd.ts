// The real `bd`, built once by `go` from its source: the two versions whose files Drover reads and
// writes.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { removeFolder } from '../../remove-folder.ts';

export const bdVersions = ['0.49.6', '1.0.3'] as const;
export type BdVersion = (typeof bdVersions)[number];

/** A clone of its repository with the tags is enough. */
const source = process.env['DROVER_BD_SOURCE'] ?? 'https://github.com/steveyegge/beads';

/**
 * The folder that contains the program. If it is missing, it is built there, which takes minutes.
 */
export function bdFolder(version: BdVersion): string {
  const folder = resolve(import.meta.dirname, `../../../out/bd/${version}`);
  const program = join(folder, 'bd');
  if (existsSync(program)) return folder;
  mkdirSync(folder, { recursive: true });
  const code = join(folder, 'source');
  removeFolder(code);
  const stdio: ['ignore', 'ignore', 'inherit'] = ['ignore', 'ignore', 'inherit'];
  execFileSync('git', ['clone', '-q', '--depth=1', `--branch=v${version}`, source, code], {
    stdio,
  });
  // The database of the newer version is written in C.
  const isOld = version.startsWith('0.');
  const tags = isOld ? [] : ['-tags=gms_pure_go'];
  execFileSync('go', ['build', '-buildvcs=false', ...tags, '-o', `${program}.new`, './cmd/bd'], {
    cwd: code,
    env: { ...process.env, CGO_ENABLED: isOld ? '0' : '1' },
    stdio,
  });
  renameSync(`${program}.new`, program);
  removeFolder(code);
  return folder;
}
