// The shell script of a job: the agent's command with the prompt from a file, preceded by a line
// that makes the runtime respond and followed by a list of hashes that verifies the download.

import { quoted } from '../../core/format.ts';
import { jobFolder, jobPrompt } from '../../core/work/job-files.ts';
import { dependencyNames } from './exclusion.ts';

export interface JobCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** Must not contain secrets, because they are part of the command's text. */
  readonly variables: Readonly<Record<string, string>>;
  /** Paths of the upload. Dependency folders that contain none of them are not returned. */
  readonly uploaded: Iterable<string>;
}

export const manifestFile = 'manifest.sha256';
export const exitFile = 'exit';
/** Contains the agent's process id, for runtimes that cannot cancel. */
export const pidFile = 'pid';

/** The first line of output, which is not the agent's. */
export const firstLine = '{"type":"client_start"}';

const variablePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Agents expect a repository, which is never downloaded. All files go into one pack (each counts as
 * "big"), because writing a loose object for each takes several times as long.
 */
const baseRepository = [
  // The folders that "git init" creates, without starting it.
  'mkdir -p .git/objects .git/refs .git/info',
  "printf 'ref: refs/heads/main\\n' > .git/HEAD",
  `printf '%s\\n' /${jobFolder}/ > .git/info/exclude`,
  `printf '%s\\n' '[user]' 'name = Drover' 'email = drover@localhost' >> .git/config`,
  'git -c core.bigFileThreshold=1 -c pack.compression=1 add -A',
  'git -c commit.gpgsign=false -c gc.auto=0 -c maintenance.auto=false commit -q --allow-empty -m base',
].join(' && ');

export function jobCommand({ program, args, variables, uploaded }: JobCommand): string {
  const exports = Object.entries(variables)
    .filter(([name]) => variablePattern.test(name))
    .map(([name, value]) => `export ${name}=${quoted(value)}`);
  const words = [program, ...args].map(quoted).join(' ');
  const kept = new Set<string>();
  for (const path of uploaded) for (const name of path.split('/')) kept.add(name);
  const removed = dependencyNames.filter((name) => !kept.has(name));
  const names = removed.map((name) => `-name ${quoted(name)}`).join(' -o ');
  // One pass over the tree: removes dependency folders, sockets and pipes, and hashes files.
  const leftAlone = `\\( -name .git -o -path ./${jobFolder} \\)`;
  const folders = `-o -type d \\( ${names} \\) -prune -exec rm -rf {} +`;
  const dropped = `${names === '' ? '' : folders} -o \\( -type s -o -type p \\) -exec rm -f {} +`;
  const hashed = '-o -type f -exec sha256sum {} +';
  return [
    // When asked to stop, it still lists the agent's files.
    'trap : TERM INT HUP',
    `printf '%s\\n' ${quoted(firstLine)}`,
    ...exports,
    'drover_git=',
    `if [ ! -e .git ] && command -v git >/dev/null 2>&1; then ( ${baseRepository} ) >/dev/null 2>&1 && drover_git=1; fi`,
    `( unset AGENT_TOKEN drover_git; sh -c 'echo $PPID' > ${jobFolder}/${pidFile}; exec ${words} ) < ${jobFolder}/${jobPrompt}`,
    'rc=$?',
    'if [ -n "$drover_git" ]; then rm -rf .git; fi',
    `printf '%s\\n' "$rc" > ${jobFolder}/${exitFile}`,
    `find . ${leftAlone} -prune ${dropped} ${hashed} > ${jobFolder}/${manifestFile}.new 2>/dev/null && mv ${jobFolder}/${manifestFile}.new ${jobFolder}/${manifestFile}`,
    'exit $rc',
  ].join('\n');
}

/**
 * Kills only the agent of this workspace. It names no program, because another one with that name
 * may run beside it.
 */
export const softCancelCommand = `read -r pid < ${jobFolder}/${pidFile}; case "$pid" in *[!0-9]*|''|0|1) exit 1;; esac; kill -TERM "$pid"`;
