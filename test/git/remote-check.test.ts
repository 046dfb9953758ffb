// The check of a remote before machines share it, and that no message ever contains a password.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { checkRemote } from '../../server/git/remote/check.ts';
import { remoteFailure, withoutCredentials } from '../../server/git/remote/remote-failures.ts';
import { kindOf, valueOf } from './fixture.ts';
import { type Fleet, type Machine, makeFleet, openMachine } from './remote-fixture.ts';

suite('git: the check whether a remote can be shared', () => {
  let fleet: Fleet;
  let one: Machine;
  setup(async () => {
    fleet = await makeFleet('server');
    one = await fleet.machine('one');
  });
  teardown(() => fleet.remove());

  const check = (remote = 'origin'): ReturnType<typeof checkRemote> =>
    checkRemote(one.local, { remote, machineId: 'one ü', timeoutMs: 20_000 });

  test('it succeeds, and leaves nothing behind', async () => {
    valueOf(await check());
    valueOf(await check());
    assert.equal(fleet.remote('for-each-ref', '--format=%(refname)'), 'refs/heads/main');
  });

  test("it succeeds for a clone that has none of the remote's branches yet", async () => {
    const other = await fleet.machine('other');
    other.commit('third.txt', 'x\n');
    other.git('push', '-q', 'origin', '+HEAD:refs/heads/first');
    fleet.remote('branch', '-D', 'main');
    fleet.remote('symbolic-ref', 'HEAD', 'refs/heads/first');
    valueOf(await check());
  });

  for (const [setting, note] of [
    ['receive.denyDeletes', /finished work remain there/],
    ['receive.denyNonFastForwards', /cannot be moved back/],
  ] as const) {
    test(`it succeeds with ${setting}, and explains the consequence`, async () => {
      fleet.remote('config', setting, 'true');
      const { notes } = valueOf(await check());
      assert.match(notes.join(' '), note);
    });
  }

  interface Bad {
    readonly name: string;
    readonly make: () => unknown;
    readonly says: RegExp;
  }
  /** The address at the start is the one that counts. */
  const moveTo = async (url: string): Promise<void> => {
    one.git('remote', 'set-url', 'origin', url);
    one = await openMachine(fleet.fixture, one, 'one');
  };
  const bad: readonly Bad[] = [
    {
      name: 'no such remote',
      make: () => one.git('remote', 'remove', 'origin'),
      says: /has no remote named origin: run "git remote add origin/,
    },
    {
      name: 'nobody there',
      make: () => fleet.server?.stop(),
      says: /the remote origin is unreachable \(.*Connection refused/,
    },
    {
      name: 'no repository there',
      make: () => moveTo(join(fleet.fixture.home, 'nowhere')),
      says: /remote origin has no repository .*"git remote set-url origin/,
    },
    {
      name: 'nothing in it',
      make: async () => {
        const empty = join(fleet.fixture.home, 'empty.git');
        one.git('init', '-q', '--bare', empty);
        await moveTo(empty);
      },
      says: /origin has no branch yet: push one to it first/,
    },
    {
      name: 'only to be read',
      make: () => fleet.remote('config', 'daemon.receivepack', 'false'),
      says: /denied access to this machine .*service not enabled/,
    },
    {
      name: 'a hook refuses our refs',
      make: () => {
        fleet.hook('update', 'case "$1" in refs/heads/*) ;; *) echo "heads only"; exit 1;; esac');
      },
      says: /refused refs\/drover\/check\/one-\/one \(hook declined\).*heads only.*write refs\/drover/,
    },
    {
      name: 'a hook has a rule for the names of branches',
      make: () => {
        const rule = 'case "$1" in refs/heads/drover/*) echo "feature/* only"; exit 1;; esac';
        fleet.hook('update', rule);
      },
      says: /refused refs\/heads\/drover\/check-one-\/1 \(hook declined\).*feature\/\* only/,
    },
    {
      name: 'what is pushed there is hidden',
      make: () => fleet.remote('config', 'uploadpack.hideRefs', 'refs/drover'),
      says: /takes refs\/drover\/check\/one-\/one but hides it/,
    },
    {
      name: 'several refs do not move as one there',
      make: () => fleet.remote('config', 'receive.advertiseAtomic', 'false'),
      says: /cannot update several refs at once/,
    },
    {
      name: 'a part of the history',
      make: async () => {
        const root = join(fleet.fixture.home, 'shallow');
        const url = `file://${encodeURI(fleet.bare)}`;
        one.commit('second.txt', 'x\n');
        one.git('push', '-q', 'origin', 'main');
        fleet.fixture.gitIn(fleet.fixture.home, 'clone', '-q', '--depth=1', url, root);
        one = await openMachine(fleet.fixture, { ...one, root }, 'one');
      },
      says: /only a part of the history: run "git fetch --unshallow origin"/,
    },
    {
      name: 'pushed to two places',
      make: () => {
        for (const place of ['a', 'b'])
          one.git('remote', 'set-url', '--add', '--push', 'origin', `/x/${place}`);
      },
      says: /pushes to 2 addresses/,
    },
  ];
  for (const { name, make, says } of bad) {
    test(name, async () => {
      await make();
      const answer = await check();
      assert.ok(!answer.ok, 'it should not be usable');
      assert.match(answer.error.message, says);
    });
  }

  test('a name that does not exist is reported', async () => {
    for (const name of ['', '--upload-pack=x', 'a b', '/tmp/x']) {
      assert.notEqual(kindOf(await check(name)), 'ok');
    }
  });

  for (const scheme of ['http', 'git']) {
    test(`no password is printed (${scheme})`, async () => {
      const base = one.git('rev-parse', 'main');
      await fleet.server?.stop();
      const { port } = new URL(fleet.url);
      const url = `${scheme}://ada:s3cr3t@127.0.0.1:${port}/shared.git?private_token=t0k3n`;
      await moveTo(url);
      const said: string[] = [];
      const read = await one.shared.readRef('refs/drover/land/main').catch(String);
      const moved = await one.shared.updateRef('refs/drover/land/main', base, null, 'x');
      const followed = await one.shared.follow('refs/heads/main', base, 'fast-forward');
      said.push(String(read), JSON.stringify([await check(), moved, followed]));
      assert.match(said.join(' '), /the remote origin is unreachable/);
      assert.doesNotMatch(said.join(' '), /s3cr3t|t0k3n/);
    });
  }

  const refusals: readonly (readonly [string, RegExp])[] = [
    [
      'git@host: Permission denied (publickey).\r\nfatal: Could not read from remote repository.\n',
      /denied access to this machine \(.*Permission denied \(publickey\)/,
    ],
    [
      'Host key verification failed.\nfatal: Could not read from remote repository.\n',
      /denied access to this machine \(Host key verification failed/,
    ],
    [
      'ERROR: The key you are authenticating with has been marked as read only.\nfatal: Could not read from remote repository.\n',
      /denied access to this machine \(ERROR: The key .*marked as read only/,
    ],
    [
      "fatal: unable to access 'https://host/x.git/': SSL certificate problem: unable to get local issuer certificate\n",
      /certificate of the remote origin cannot be checked .*http\.sslCAInfo/,
    ],
  ];
  for (const [stderr, says] of refusals) {
    test(`a failure is reported with its reason and without a wait: ${stderr.slice(0, 40)}`, () => {
      const output = { code: 128, stdout: Buffer.alloc(0), stderr, problem: null };
      const failure = remoteFailure(output, 'origin', 'push to origin');
      assert.match(failure.message, says);
      assert.deepEqual([failure.retryable, failure.isAway], [false, undefined]);
    });
  }

  const texts: readonly (readonly [string, string])[] = [
    [
      "unable to access 'https://u:p@host/x.git/': no",
      "unable to access 'https://host/x.git/': no",
    ],
    ['https://tok@host/a@b.git', 'https://b.git'],
    ['https://host/x.git?token=1 failed', 'https://host/x.git failed'],
    ['ssh://git@host:22/x', 'ssh://host:22/x'],
    ['look up ada:pw@host:22 (x)', 'look up host:22 (x)'],
    ['nothing to hide: a@b', 'nothing to hide: a@b'],
  ];
  for (const [text, hidden] of texts) {
    test(`missing credentials are reported: ${text}`, () => {
      assert.equal(withoutCredentials(text), hidden);
    });
  }
});
