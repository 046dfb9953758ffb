// Git started from shells gives the same results as git started directly, whatever its arguments
// contain.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gitEnvironment, shortened } from '../../server/git/process/environment.ts';
import { programOnPath } from '../../server/files/program-path.ts';
import { runOnce, type GitRequest } from '../../server/git/process/run-once.ts';
import { type GitOutput } from '../../server/git/git-command.ts';
import { GitShells, shellScript } from '../../server/git/process/shells.ts';
import { removeFolder } from '../remove-folder.ts';

const environment = gitEnvironment(shortened(process.env));

suite('git from shells', () => {
  let folder = '';
  let shells = new GitShells();

  setup(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'drover-shells-')));
    execFileSync('git', ['init', '-q', '-b', 'main', folder]);
    shells = new GitShells();
  });

  teardown(() => {
    shells.close();
    removeFolder(folder);
  });

  const requestOf = (args: readonly string[], more: Partial<GitRequest> = {}): GitRequest => ({
    binary: programOnPath('git', process.env),
    args,
    cwd: folder,
    environment,
    addedEnvironment: {},
    input: null,
    maxOutputBytes: 1_000_000,
    timeoutMs: 60_000,
    truncate: false,
    mayLeaveOthers: false,
    ...more,
  });

  /** A program that prints its input. */
  const shown = (script: string, ...words: readonly string[]): GitRequest =>
    requestOf(['-c', `alias.shown=!f() { ${script}; }; f`, 'shown', ...words]);

  const taken = async (request: GitRequest, signal: AbortSignal | null = null) => {
    const output = shells.run(request, signal);
    assert.ok(output !== null, 'a shell takes it');
    return output;
  };

  const readable = ({ stdout, ...rest }: GitOutput) => ({
    ...rest,
    stdout: stdout.toString('latin1'),
  });

  const strange = [
    '',
    ' ',
    ' two  words ',
    '$HOME $(id) `id` ${PATH}',
    '\'single\' "double"',
    'back\\slash \\n \\\\',
    '-n',
    '--',
    '*',
    '~',
    '.dotted',
    '=equal',
    '+plus',
    'a;b|c&d>e<f',
    '%s %b',
    '!x #y',
  ];

  test('arguments arrive unchanged', async () => {
    const request = shown('for word in "$@"; do printf "<%s>\\n" "$word"; done', ...strange);
    const output = await taken(request);
    assert.equal(output.stdout.toString(), strange.map((word) => `<${word}>\n`).join(''));
    assert.deepEqual(readable(output), readable(await runOnce(request, null)));
  });

  const inputs: readonly (readonly [name: string, input: string | Uint8Array])[] = [
    ['nothing', ''],
    ['lines', 'one\ntwo\n'],
    ['zeros', 'a\0b c\0\0'],
    ['escapes', '\\ \\n \\c %s \\0101'],
    ['other letters', 'ä € 😀'],
    ['every byte', Uint8Array.from({ length: 256 }, (_, byte) => byte)],
  ];
  for (const [name, input] of inputs) {
    test(`input arrives unchanged: ${name}`, async () => {
      const request = requestOf(['hash-object', '--stdin'], { input });
      assert.deepEqual(readable(await taken(request)), readable(await runOnce(request, null)));
    });
  }

  test('without input, standard input is empty', async () => {
    const output = await taken(requestOf(['hash-object', '--stdin']));
    assert.equal(output.stdout.toString().trim(), 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391');
  });

  test('variables apply to one process, and nothing of the shell is visible', async () => {
    const addedEnvironment = { GIT_INDEX_FILE: '/x y/$z', GIT_AUTHOR_DATE: '1 +0000' };
    const request = { ...shown('env | grep -v "^_=" | sort'), addedEnvironment };
    assert.deepEqual(readable(await taken(request)), readable(await runOnce(request, null)));
    const next = shown('env | grep -v "^_=" | sort');
    assert.deepEqual(readable(await taken(next)), readable(await runOnce(next, null)));
  });

  test('code, output and errors belong together, even for many concurrent calls', async () => {
    const outputs = await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        const request = shown(`echo out-${at}; echo err-${at} >&2; exit ${at}`);
        return (await shells.run(request, null)) ?? runOnce(request, null);
      }),
    );
    for (const [at, output] of outputs.entries()) {
      assert.deepEqual(readable(output), {
        code: at,
        stdout: `out-${at}\n`,
        stderr: `err-${at}\n`,
        problem: null,
      });
    }
  });

  test('megabytes of output arrive completely, but beyond the limit they are cut and git is stopped', async () => {
    const length = 5_000_000;
    const many = shown(`head -c ${length} /dev/zero`);
    const whole = await taken({ ...many, maxOutputBytes: length });
    assert.deepEqual([whole.stdout.length, whole.code, whole.problem], [length, 0, null]);
    const endless = { ...shown('cat /dev/zero'), maxOutputBytes: 1_000 };
    const cut = await taken({ ...endless, truncate: true });
    assert.deepEqual([cut.stdout.length, cut.code, cut.problem], [1_000, 0, null]);
    const refused = await taken(endless);
    assert.deepEqual([refused.stdout.length, refused.problem], [1_000, 'too_much_output']);
    assert.equal((await taken(requestOf(['--version']))).code, 0);
  });

  test('a call that takes too long or is canceled stops git, and the next one runs', async () => {
    const waiting = shown('echo begun > begun; exec sleep 600');
    const late = await taken({ ...waiting, timeoutMs: 50 });
    assert.deepEqual([late.code, late.problem], [-1, 'timeout']);
    rmSync(join(folder, 'begun'), { force: true });
    const controller = new AbortController();
    const running = taken(waiting, controller.signal);
    while (!existsSync(join(folder, 'begun'))) await delay(5);
    controller.abort();
    const ended = await running;
    assert.deepEqual([ended.code, ended.problem], [-1, 'aborted']);
    assert.equal((await taken(waiting, AbortSignal.abort())).problem, 'aborted');
    assert.equal((await taken(requestOf(['--version']))).code, 0);
  });

  test('a missing program or folder is reported', async () => {
    const noProgram = await taken(requestOf([], { binary: join(folder, 'none') }));
    assert.equal(noProgram.problem, 'missing');
    const noFolder = await taken(requestOf(['--version'], { cwd: join(folder, 'none') }));
    assert.equal(noFolder.problem, 'missing');
    assert.equal((await taken(requestOf(['--version']))).code, 0);
  });

  test('a killed shell ends only its own request', async () => {
    const request = shown('kill -KILL 0');
    const killed = await taken(request);
    assert.deepEqual([killed.code, killed.problem], [-1, 'aborted']);
    assert.equal((await taken(requestOf(['--version']))).code, 0);
  });

  test('calls that do not fit into lines run elsewhere', () => {
    for (const request of [
      requestOf(['log', 'two\nlines']),
      requestOf(['log', 'größer']),
      requestOf(['log'], { addedEnvironment: { HOME: '/' } }),
      requestOf(['log'], { binary: 'git' }),
      requestOf(['fetch'], { mayLeaveOthers: true }),
      requestOf(['log', 'x'.repeat(20_000)]),
      requestOf(['hash-object', '--stdin'], { input: 'x'.repeat(20_000) }),
    ]) {
      assert.equal(shells.run(request, null), null);
    }
  });

  test('they exit when they get no calls, and running commands finish', async () => {
    shells.close();
    shells = new GitShells({ idleMs: 1 });
    const request = shown('echo $PPID; sleep 0.3; echo done');
    const output = await taken(request);
    const [parent, last] = output.stdout.toString().trim().split('\n');
    assert.equal(last, 'done');
    const shell = parentOf(Number(parent));
    if (shell !== null) while (existsSync(`/proc/${shell}/cmdline`)) await delay(5);
    assert.equal((await taken(requestOf(['--version']))).code, 0);
  });

  test('half a request is not executed', () => {
    const half = `${folder}\n.git\n.init\n.-q\n.made\n`;
    const ask = (input: string): void => {
      const options = { input, env: environment };
      spawnSync('/bin/sh', ['-c', shellScript, 'drover-git', 'mark'], options);
    };
    ask(half);
    assert.ok(!existsSync(join(folder, 'made')));
    ask(`${half}\n`);
    assert.ok(existsSync(join(folder, 'made')));
  });
});

/** Returns null if the system does not expose it, or the process has exited. */
function parentOf(pid: number): number | null {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(' ')[3]);
  } catch {
    return null;
  }
}
