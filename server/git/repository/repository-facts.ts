// Facts about a repository: its location, its checked-out branch, and special features of its
// worktrees.

import { headRoot } from '../../core/work/ref-names.ts';
import { basename, dirname, join, resolve } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import { failureOf, refuse } from '../failures.ts';
import { isSha } from '../sha.ts';
import { absoluteBytes, splitZero } from '../../files/path-bytes.ts';
import { listArguments, type ListedConfig, parseListed } from '../process/listed-config.ts';
import type { GitProcesses } from '../process/process.ts';
import type { GitOutput } from '../git-command.ts';
import type { GitResult, RepositoryFacts } from '../port.ts';
import { exists, readPlain } from '../../files/small-files.ts';

export interface RepositoryPlace {
  readonly commonDir: string;
  readonly root: string;
  /** Without a main checkout, the root is the linked worktree that was opened. */
  readonly isBare: boolean;
  /** Keys in lower case as git prints them. If a key has several values, the last one. */
  readonly config: ReadonlyMap<string, string>;
  readonly listed: ListedConfig;
}

type Run = GitProcesses['run'];

const maxAttributeFiles = 200;

/** Finds the main checkout from any folder inside it or inside one of its linked worktrees. */
export async function findRepository(
  run: Run,
  path: string,
  home: string,
): Promise<GitResult<RepositoryPlace>> {
  const [located, configured] = await Promise.all([
    run({
      args: [
        'rev-parse',
        '--path-format=absolute',
        '--git-common-dir',
        // Its answer separates paths that may contain line breaks.
        '--is-bare-repository',
        '--git-dir',
        '--is-bare-repository',
        // Last, because it fails outside of a checkout.
        '--show-toplevel',
      ],
      cwd: path,
    }),
    run({ args: listArguments, cwd: path }),
  ]);
  if (located.problem !== null) return err(failureOf(located, `open ${path}`));
  const { commonDir, gitDir, bare, top } = parseLocation(located.stdout.toString('utf8'));
  if (bare === '') {
    if (/dubious ownership/i.test(located.stderr)) {
      return refuse(
        'not_a_repository',
        `Git refuses ${path}, which belongs to another user. To trust it, run git config --global --add safe.directory ${path} (${failureOf(located, 'open it').message})`,
      );
    }
    return refuse('not_a_repository', refusalText(path, located));
  }
  if (bare === 'true') return refuse('not_a_repository', bareText(path, commonDir));
  if (configured.code !== 0) return err(failureOf(configured, `read the configuration of ${path}`));
  const listed = parseListed(configured.stdout, path, home);
  const config = lastValues(listed);
  const common = resolve(commonDir);
  const shownTop = located.code === 0 ? top : '';
  const root = mainRoot(shownTop, common, resolve(gitDir), config);
  const isBare = config.get('core.bare') === 'true';
  return ok({ commonDir: common, root, isBare, config, listed });
}

function refusalText(path: string, located: GitOutput): string {
  if (/not a git repository \(or any/i.test(located.stderr)) {
    if (exists(join(path, '.git')))
      return `Git does not accept ${join(path, '.git')} as a repository: files are missing in it, such as HEAD. Restore them, or clone the repository again.`;
    return `${path} is not inside a git repository: run "git init" first.`;
  }
  const { message } = failureOf(located, `open the repository of ${path}`);
  const file = /bad (?:numeric )?config.* (?:in|at) file (?<file>\S.*?)\s*$/im.exec(located.stderr);
  const cure = /unknown repository extension|repo version|ref storage/i.test(located.stderr)
    ? 'Install a newer git, or remove that extension from the configuration of the repository.'
    : file === null
      ? 'Run "git status" there and fix the problems that it reports.'
      : `Correct that line of ${file.groups?.['file'] ?? 'the configuration'}.`;
  return `${message.replace(/[.\s]*$/, '')}. ${cure}`;
}

/** A checkout's git folder is called .git and has an index. */
function bareText(path: string, commonDir: string): string {
  const folder = resolve(commonDir);
  if (basename(folder) !== '.git' || !exists(join(folder, 'index')))
    return `${path} is a bare repository: Drover needs a checkout.`;
  return `${path} has a checkout, but its configuration has core.bare = true, so git treats it as a bare repository. A tool or an agent without a sandbox may have set it. Run "git config --unset core.bare" in ${dirname(folder)}, then try again.`;
}

interface Location {
  readonly commonDir: string;
  readonly gitDir: string;
  /** '' if there is no repository. */
  readonly bare: string;
  readonly top: string;
}

function parseLocation(output: string): Location {
  const form = /^(?<common>.+?)\n(?<bare>true|false)\n(?<git>.+?)\n\k<bare>\n(?:(?<top>.+)\n)?$/s;
  const groups = form.exec(output)?.groups ?? {};
  const { common = '', git = '', bare = '', top = '' } = groups;
  return { commonDir: common, gitDir: git, bare, top };
}

/** `top`: the checkout that was opened; '' if none. */
function mainRoot(
  top: string,
  commonDir: string,
  gitDir: string,
  config: ReadonlyMap<string, string>,
): string {
  const inMain = gitDir === commonDir;
  if (!inMain && config.get('core.bare') !== 'true') {
    const elsewhere = config.get('core.worktree');
    if (elsewhere) return resolve(commonDir, elsewhere);
    if (basename(commonDir) === '.git') return dirname(commonDir);
  }
  // A bare repository with worktrees has no main checkout, so the opened worktree is used.
  return top === '' ? dirname(commonDir) : resolve(top);
}

/** Git's current configuration as seen from one git folder. Null if it cannot be read. */
export async function readConfiguration(
  run: Run,
  cwd: string,
  { gitDir, home }: { readonly gitDir: string; readonly home: string },
): Promise<ListedConfig | null> {
  const output = await run({ args: listArguments, cwd, env: { GIT_DIR: gitDir } });
  return output.code === 0 ? parseListed(output.stdout, cwd, home) : null;
}

function lastValues({ values }: ListedConfig): ReadonlyMap<string, string> {
  return new Map([...values].map(([key, listed]) => [key, listed.at(-1) ?? '']));
}

/** Git's facts about a checkout: its HEAD, and the locations of attributes. */
export interface CheckoutAnswers {
  readonly headRef: string;
  readonly headSha: string;
  readonly attributeFiles: readonly string[];
}

/** Can run in parallel with `findRepository`, for a folder that is probably the root. */
export async function askCheckout(run: Run, folder: string): Promise<CheckoutAnswers> {
  const [head, attributes] = await Promise.all([
    run({
      args: ['rev-parse', '-q', 'HEAD^{commit}', '--symbolic-full-name', 'HEAD'],
      cwd: folder,
    }),
    run({ args: ['ls-files', '-z', '--', '.gitattributes', '**/.gitattributes'], cwd: folder }),
  ]);
  const attributeFiles = splitZero(attributes.stdout);
  const [headSha = '', headRef = ''] = head.stdout.toString('utf8').split('\n');
  if (head.code === 0 && headRef !== '') return { headRef, headSha, attributeFiles };
  // Before the first commit, the branch exists without a commit. If a branch is called HEAD, git
  // considers the name ambiguous.
  const branch = await run({ args: ['symbolic-ref', '-q', 'HEAD'], cwd: folder });
  return { headRef: branch.stdout.toString('utf8').trim(), headSha, attributeFiles };
}

/** `asked`: the answers for the root; null if not requested yet. */
export async function readFacts(
  run: Run,
  place: RepositoryPlace,
  asked: CheckoutAnswers | null,
): Promise<RepositoryFacts> {
  const { root, commonDir } = place;
  const { headRef, headSha, attributeFiles } = asked ?? (await askCheckout(run, root));
  return {
    commonDir,
    root,
    headBranch: headRef.startsWith(headRoot) ? headRef.slice(headRoot.length) : null,
    headSha: isSha(headSha) ? headSha : null,
    hasSubmodules: exists(join(root, '.gitmodules')),
    usesLfs: await anyUsesLfs(root, commonDir, attributeFiles),
  };
}

async function anyUsesLfs(
  root: string,
  commonDir: string,
  attributeFiles: readonly string[],
): Promise<boolean> {
  const files = [
    join(root, '.gitattributes'),
    join(commonDir, 'info', 'attributes'),
    ...attributeFiles.slice(0, maxAttributeFiles).map((path) => absoluteBytes(root, path)),
  ];
  for (const file of files) {
    const text = readPlain(file)?.toString('utf8') ?? '';
    if (/^[^#\n]*\sfilter=lfs(?:\s|$)/m.test(text)) return true;
  }
  return false;
}
