// Small decisions of the git layer: which files are held, the meaning of a failure, which names are
// refs.

import assert from 'node:assert/strict';
import { gitEnvironment, networkVariables } from '../../../server/git/process/environment.ts';
import { failureOf, isPassingRace, parseLockFile } from '../../../server/git/failures.ts';
import { refusalReason } from '../../../server/git/follow/checkout.ts';
import { isHeldFileName } from '../../../server/git/keep/held-files.ts';
import { identityVariables, missingIdentity } from '../../../server/git/process/identity.ts';
import { isReproducible } from '../../../server/git/keep/ignored-files.ts';
import { commitMessage } from '../../../server/git/refs/messages.ts';
import { isFullRef } from '../../../server/git/refs/refs.ts';
import { rescueRefName } from '../../../server/git/remote/kept-refs.ts';
import { KeyedMutex, Semaphore } from '../../../server/core/work/semaphore.ts';

suite('git rules', () => {
  test('held names are recognized', () => {
    const held =
      '.env a/.env .env.local x.pem x.PEM deep/er/x.key x.p12 id_rsa id_rsa.pub id_ed25519_work credentials credentials.json a/credentials-prod .ENV .Env.Local a/.netrc .git-credentials id_dsa ID_ECDSA id_ecdsa.pub x.pfx x.P12 a.jks a.keystore terraform.tfstate terraform.tfstate.backup kubeconfig kubeconfig.yaml service-account.json service-account-prod.json service_account.json secrets.json secrets.yaml Secrets.toml secrets.env secrets.ts src/secrets.py Credentials.json .htpasswd';
    const free =
      '.npmrc .yarnrc.yml pip.conf .pypirc .envrc a/nuget.config .env.example .env.sample credentials.example x.pem.sample .npmrc.example env a.env key pem src/keys.ts id_generator.ts id_dsafoo secrets secrets.example my-secrets.md mykubeconfig accounts.json tfstate mycredentials .env/file x.keys Credentials.java';
    for (const name of held.split(' ')) assert.equal(isHeldFileName(name), true, name);
    for (const name of free.split(' ')) assert.equal(isHeldFileName(name), false, name);
  });

  test('S22: names with terminal control characters are held', () => {
    for (const name of ['a\u001b]0;title\u0007', 'folder\u009b31m/x.ts', 'b\u007f', 'c\b'])
      assert.equal(isHeldFileName(name), true, JSON.stringify(name));
    for (const name of ['Icon\r', 'ü b.ts', 'tab\there'])
      assert.equal(isHeldFileName(name), false, JSON.stringify(name));
  });

  test('ignored files that tools regenerate are recognized', () => {
    for (const path of [
      'node_modules/a',
      'x/__pycache__/y',
      'a/b.pyc',
      'dist/',
      'x.egg-info/y',
      'target/debug/x',
    ]) {
      assert.equal(isReproducible(path), true, path);
    }
    for (const path of ['.env', 'notes/x', 'data.sqlite', 'my_node_modules/a', 'distance']) {
      assert.equal(isReproducible(path), false, path);
    }
  });

  test('full refs are checked', () => {
    for (const ref of ['refs/heads/main', 'refs/drover/land/feature/x', 'refs/heads/ü']) {
      assert.equal(isFullRef(ref), true, ref);
    }
    for (const ref of [
      'HEAD',
      'main',
      'refs/heads/../x',
      'refs/heads/',
      'refs/heads/a b',
      'refs/heads/a.lock',
      'refs/heads/a.lock/b',
      'refs/heads/.a',
      'refs/heads/a\0',
      'refs/heads/a^',
      'refs//x',
      'refs/heads/a.',
      'refs/heads/@{1}',
    ]) {
      assert.equal(isFullRef(ref), false, ref);
    }
  });

  test('rescue refs are full refs whatever the label is', () => {
    const commit = 'abcdef0123456789'.padEnd(40, '0');
    assert.equal(rescueRefName('task-1/2', commit), 'refs/drover/rescue/task-1/2/abcdef012345');
    for (const label of [
      '',
      '/',
      '..',
      'a/../b',
      'x.lock',
      '.hidden',
      'ü ~^:',
      'a//b',
      'end.',
      '@{',
    ]) {
      assert.equal(
        isFullRef(rescueRefName(label, commit)),
        true,
        `${label}: ${rescueRefName(label, commit)}`,
      );
    }
  });

  test('lock files are recognized', () => {
    const check = (stderr: string, lock: string | null): void =>
      assert.equal(parseLockFile(stderr), lock);
    check(
      "fatal: Unable to create '/a b/.git/index.lock': File exists.\n\nAnother git process",
      '/a b/.git/index.lock',
    );
    check(
      "fatal: cannot lock ref 'refs/heads/x': Unable to create '/r/.git/refs/heads/x.lock': File exists.",
      '/r/.git/refs/heads/x.lock',
    );
    check('error: could not lock config file .git/config: File exists', '.git/config.lock');
    check("fatal: Unable to create '/a/.git/index.lock': Permission denied", null);
    check('error: pathspec', null);
    assert.equal(
      isPassingRace('fatal: failed to read /r/.git/worktrees/x/commondir: Success'),
      true,
    );
    assert.equal(isPassingRace('fatal: bad revision'), false);
  });

  test('failures are classified', () => {
    const check = (stderr: string, kind: string, retryable: boolean, words: RegExp): void => {
      const output = { code: 128, stdout: Buffer.alloc(0), stderr, problem: null };
      const failure = failureOf(output, 'do it');
      assert.deepEqual([failure.kind, failure.retryable], [kind, retryable]);
      assert.match(failure.message, words);
    };
    check("Unable to create '/x/index.lock': File exists", 'locked', true, /\/x\/index\.lock/);
    check('fatal: write error: No space left on device', 'disk_full', true, /disk is full/);
    check(
      `fatal: cannot lock ref 'x': is at ${'a'.repeat(40)} but expected ${'b'.repeat(40)}`,
      'stale',
      true,
      /expected/,
    );
    check('fatal: bad object 123', 'unknown_ref', false, /bad object/);
    check(
      'hint: try this\nfatal: it broke\nmore',
      'failed',
      false,
      /^Git could not do it \(exit 128\): fatal: it broke$/,
    );
    check('', 'failed', false, /no reason/);
    const slow = { code: -1, stdout: Buffer.alloc(0), stderr: '', problem: 'timeout' as const };
    assert.equal(failureOf(slow, 'do it').retryable, true);
  });

  test('the reason why a checkout did not move is found', () => {
    const check = (stderr: string, words: RegExp): void =>
      assert.match(refusalReason(stderr, '/w'), words);
    check(
      'error: Your local changes to the following files would be overwritten by merge:\n\ta.txt\n\tb c.txt\nPlease commit your changes\nAborting\n',
      /^Local changes in \/w are in the way: a\.txt, b c\.txt\. Commit or stash them\.$/,
    );
    check(
      'error: The following untracked working tree files would be overwritten by merge:\n\t.env\nPlease move\n',
      /^Files that are not in git in \/w are in the way: \.env\. Move or remove them\.$/,
    );
    check(
      `error: x:\n${'123456789'
        .split('')
        .map((name) => `\t${name}\n`)
        .join('')}`,
      /1, 2, 3, 4, 5 and 4 more/,
    );
    check("fatal: Unable to create '/w/.git/index.lock': File exists.", /Git is running in \/w/);
    check('fatal: Not possible to fast-forward, aborting.', /Not possible to fast-forward/);
    check('', /no reason/);
  });

  test('the environment loses variables that redirect git', () => {
    const environment = gitEnvironment({
      PATH: '/bin',
      HOME: '/h',
      LANG: 'de_DE.UTF-8',
      GIT_DIR: '/x',
      GIT_INDEX_FILE: '/x',
      GIT_CONFIG_PARAMETERS: 'x',
      GIT_CONFIG_COUNT: '1',
      GIT_SSH_COMMAND: 'ssh -i k',
      GIT_AUTHOR_NAME: 'A',
      GIT_AUTHOR_DATE: 'x',
      gone: undefined,
    });
    assert.deepEqual(Object.keys(environment).toSorted(), [
      'GIT_EDITOR',
      'GIT_GRAFT_FILE',
      'GIT_NO_REPLACE_OBJECTS',
      'GIT_OPTIONAL_LOCKS',
      'GIT_PAGER',
      'GIT_SSH_COMMAND',
      'GIT_TERMINAL_PROMPT',
      'HOME',
      'LANG',
      'LANGUAGE',
      'LC_ALL',
      'PATH',
    ]);
    assert.deepEqual([environment['LC_ALL'], environment['GIT_OPTIONAL_LOCKS']], ['C', '0']);
  });

  test('a custom ssh gets the options that end a dead connection', () => {
    const alive = '-o ConnectTimeout=10 -o ServerAliveInterval=5 -o ServerAliveCountMax=3';
    const check = (
      source: Readonly<Record<string, string>>,
      configured: string | null,
      expected: string | undefined,
    ): void => {
      const config = new Map(configured === null ? [] : [['core.sshcommand', configured]]);
      assert.equal(networkVariables(source, config)['GIT_SSH_COMMAND'], expected);
    };
    check({}, null, `ssh -o BatchMode=yes ${alive}`);
    check({ GIT_SSH_COMMAND: 'ssh -i k' }, null, `ssh -i k ${alive}`);
    check({ GIT_SSH_COMMAND: 'ssh -i k' }, 'ssh -F c', `ssh -i k ${alive}`);
    check({}, "'/opt/my ssh/ssh' -F c", `'/opt/my ssh/ssh' -F c ${alive}`);
    check({}, '"C:/Git/ssh.exe" -F c', `"C:/Git/ssh.exe" -F c ${alive}`);
    check({ GIT_SSH: "/o'x/ssh" }, null, String.raw`'/o'\''x/ssh' ${alive}`);
    // Git would not know which options these programs understand, so Drover does not either.
    check({ GIT_SSH: '/opt/plink' }, null, undefined);
    check({}, 'tsh ssh', undefined);
    check({ GIT_SSH: '/usr/bin/ssh' }, 'own-ssh', undefined);
  });

  test('identities are read', () => {
    const full = new Map([
      ['user.name', 'U'],
      ['user.email', 'u@x'],
    ]);
    assert.deepEqual(missingIdentity(full, { GIT_AUTHOR_NAME: 'E' }), {});
    assert.deepEqual(missingIdentity(new Map([['user.name', 'U']]), { GIT_AUTHOR_EMAIL: 'e@x' }), {
      GIT_AUTHOR_EMAIL: 'drover@localhost',
      GIT_COMMITTER_EMAIL: 'drover@localhost',
    });
    assert.deepEqual(missingIdentity(new Map(), { GIT_AUTHOR_NAME: 'E' }), {
      GIT_AUTHOR_NAME: 'E',
      GIT_AUTHOR_EMAIL: 'drover@localhost',
      GIT_COMMITTER_NAME: 'Drover',
      GIT_COMMITTER_EMAIL: 'drover@localhost',
    });
    assert.deepEqual(identityVariables({ GIT_COMMITTER_NAME: 'D' }, { name: 'A', email: 'a@x' }), {
      GIT_COMMITTER_NAME: 'D',
      GIT_AUTHOR_NAME: 'A',
      GIT_AUTHOR_EMAIL: 'a@x',
    });
  });

  test('messages are formatted', () => {
    const check = (subject: string, trailers: readonly string[], expected: string): void =>
      assert.equal(commitMessage(subject, trailers), expected);
    check(
      'drover: t Title',
      ['Drover-Task: t', 'Drover-Attempt: 1'],
      'drover: t Title\n\nDrover-Task: t\nDrover-Attempt: 1\n',
    );
    check(
      'a\n\nDrover-Task: forged',
      ['Drover-Task: t\nX: y'],
      'a Drover-Task: forged\n\nDrover-Task: t X: y\n',
    );
    check(' \n', [], 'drover: work of a task\n');
    check(`t: ${'x'.repeat(1_000)}`, [], `t: ${'x'.repeat(68)}…\n`);
    check('t: \u202egnp.exe', [], 't: U+202Egnp.exe\n');
  });
});

suite('git locks', () => {
  const gate = (): { readonly opened: Promise<void>; readonly open: () => void } => {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    return { opened, open };
  };

  test('a semaphore admits its number, in order, and survives a failing body', async () => {
    const semaphore = new Semaphore(2);
    const gates = [gate(), gate(), gate(), gate()];
    const log: string[] = [];
    let running = 0;
    const all = gates.map(({ opened }, index) =>
      semaphore.run(async () => {
        running += 1;
        log.push(`${index} of ${running}`);
        await opened;
        running -= 1;
        if (index === 0) throw new Error('expected');
      }),
    );
    for (const { open } of gates) open();
    const ends = await Promise.allSettled(all);
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
    );
    assert.equal(
      log.every((line) => /[12]$/.test(line)),
      true,
    );
    assert.deepEqual(
      log.map((line) => line[0]),
      ['0', '1', '2', '3'],
    );
  });

  test('a mutex blocks only its own key', async () => {
    const mutex = new KeyedMutex();
    const { opened, open } = gate();
    const log: string[] = [];
    const first = mutex.run('a', async () => {
      await opened;
      log.push('a1');
      throw new Error('expected');
    });
    const second = mutex.run('a', () => Promise.resolve(void log.push('a2')));
    await mutex.run('b', () => Promise.resolve(void log.push('b')));
    await mutex.runIfFree('a', () => Promise.resolve(void log.push('never')));
    open();
    await assert.rejects(first);
    await second;
    await mutex.runIfFree('a', () => Promise.resolve(void log.push('free')));
    assert.deepEqual(log, ['b', 'a1', 'a2', 'free']);
  });
});
