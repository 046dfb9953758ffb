// Each probe of a hostile page, a guesser or a device with too small a role fails, and gets in once the
// one wall that is meant to stop it is taken away: no other wall hides that this one does nothing.

import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WebOptions } from '../../server/web/start-web.ts';
import { removeFolder } from '../remove-folder.ts';
import { Target } from './support/probe-target.ts';
import { startWeakened, type Weakening } from './support/weakened-web.ts';

const proxy = 'https://drover.example.com';

interface Probe {
  readonly wall: Weakening;
  readonly options?: Partial<WebOptions>;
  /** Resolves with whether it got in. */
  readonly tries: (target: Target) => Promise<boolean>;
}

const wallIn = (file: string, wall: string, instead: string): Weakening => ({
  file: `web/${file}.ts`,
  wall,
  instead,
});

const pageOrigin = wallIn(
  'web-server',
  'request.headers.origin === asked && request.headers',
  'request.headers',
);
const ownName = wallIn(
  'web-server',
  'if (!isOwn(asked)) return',
  'if (isOwn(asked) === null) return',
);
const jsonOnly = wallIn(
  'web-server',
  "request.headers['content-type'] === 'application/json'",
  'true',
);
const socketOrigin = wallIn(
  'web-server',
  'isOwn(asked) && request.headers.origin === asked;',
  'true;',
);
const roleWall = wallIn(
  'page-sockets',
  'if (!isAtLeast(device.role, needed))',
  'if (device === null)',
);

/** A request for a ticket by a browser that is let in, with these headers. */
const withCookie =
  (headers: (target: Target) => Record<string, string>): Probe['tries'] =>
  async (target) => {
    const { cookie } = await target.enter();
    return (await target.send('/ticket', { cookie, ...headers(target) })).status === 200;
  };

/** The server keeps the function of the clock that it was started with. */
class TestClock {
  readonly #real = Date.now;
  #aheadMs = 0;

  begin(): void {
    Date.now = () => this.#real() + this.#aheadMs;
  }

  end(): void {
    Date.now = this.#real;
  }

  async later<T>(ms: number, then: () => Promise<T>): Promise<T> {
    this.#aheadMs = ms;
    try {
      return await then();
    } finally {
      this.#aheadMs = 0;
    }
  }
}

const clock = new TestClock();

/** Five wrong tokens, then the right one. */
const guesses =
  (headers: (n: number) => Record<string, string>): Probe['tries'] =>
  async (target) => {
    const link = target.newLink();
    for (let n = 0; n < 5; n += 1) await target.enter('http://x/#token=wrong', headers(n));
    return (await target.enter(link, headers(5))).status === 200;
  };

const may =
  (role: string, name: string, params: object = {}): Probe['tries'] =>
  async (target) => {
    const { opened } = await target.paired(await target.owner(), role);
    await target.ask(opened, name, params);
    return target.asked.includes(name);
  };

const probes: Readonly<Record<string, Probe>> = {
  'a page of another origin': {
    wall: pageOrigin,
    tries: withCookie(() => ({ origin: 'http://evil.example' })),
  },
  'a page of another port of this machine': {
    wall: pageOrigin,
    tries: withCookie(() => ({ origin: 'http://127.0.0.1:1' })),
  },
  'a page in a sandboxed frame': {
    wall: pageOrigin,
    tries: withCookie(() => ({ origin: 'null' })),
  },
  'a program without an origin': { wall: pageOrigin, tries: withCookie(() => ({ origin: '' })) },
  'an origin that begins like its own': {
    wall: pageOrigin,
    tries: withCookie(({ own }) => ({ origin: `${own}.evil.example` })),
  },
  'a form of another page': {
    wall: jsonOnly,
    tries: withCookie(() => ({ 'content-type': 'application/x-www-form-urlencoded' })),
  },
  'plain text, which needs no preflight': {
    wall: jsonOnly,
    tries: withCookie(() => ({ 'content-type': 'text/plain' })),
  },
  'a name that was made to point here': {
    wall: ownName,
    tries: withCookie(({ url }) => ({
      host: `evil.example:${url.port}`,
      origin: `http://evil.example:${url.port}`,
    })),
  },
  'the page by such a name': {
    wall: ownName,
    tries: async (target) =>
      (await target.send('/', { host: 'evil.example' }, '', 'GET')).status === 200,
  },
  'a socket of another origin': {
    wall: socketOrigin,
    tries: async (target) =>
      (await target.open((await target.enter()).ticket, { origin: 'http://evil.example' })) !==
      null,
  },
  'a socket without an origin': {
    wall: socketOrigin,
    tries: async (target) =>
      (await target.open((await target.enter()).ticket, { origin: '' })) !== null,
  },
  'a socket by a name that was made to point here': {
    wall: socketOrigin,
    tries: async (target) =>
      (await target.open((await target.enter()).ticket, { host: 'evil.example' })) !== null,
  },
  'a guessed ticket': {
    wall: wallIn(
      'page-sockets',
      'const expected = this.#tickets.get(String(ticket));',
      'const expected = [...this.#tickets.values()].at(-1);',
    ),
    tries: async (target) => {
      await target.enter();
      return (await target.open('guessed')) !== null;
    },
  },
  'a ticket that was used': {
    wall: wallIn('page-sockets', 'this.#tickets.delete(String(ticket));', ''),
    tries: async (target) => {
      const { ticket } = await target.enter();
      assert.ok((await target.open(ticket)) !== null);
      return (await target.open(ticket)) !== null;
    },
  },
  'a ticket that is too old': {
    wall: wallIn('page-sockets', 'expected.endsAtMs <= this.#options.nowMs()', 'false'),
    tries: async (target) => {
      const { ticket } = await target.enter();
      return await clock.later(31_000, async () => (await target.open(ticket)) !== null);
    },
  },
  'a link that was used': {
    wall: wallIn('invitations', 'this.#open.delete(token);', ''),
    tries: async (target) => {
      const link = target.newLink();
      assert.equal((await target.enter(link)).status, 200);
      return (await target.enter(link)).status === 200;
    },
  },
  'a link that is too old': {
    wall: wallIn('invitations', 'invitation.endsAtMs > now', 'true'),
    tries: async (target) => {
      const link = target.newLink();
      return await clock.later(601_000, async () => (await target.enter(link)).status === 200);
    },
  },
  'a code of Pair a Phone after two minutes': {
    wall: wallIn('invitations', 'invitation.endsAtMs > now', 'true'),
    tries: async (target) => {
      const owner = await target.owner();
      assert.ok(await target.ask(owner, 'web.pair', { role: 'see', name: 'x' }));
      const { url } = owner.results.at(-1) as { url: string };
      return await clock.later(121_000, async () => (await target.enter(url)).status === 200);
    },
  },
  'a guesser': {
    wall: wallIn('invitations', 'recent.length >= wrongMax', 'false'),
    tries: guesses(() => ({})),
  },
  'a guesser who makes addresses up behind a proxy': {
    wall: wallIn('web-server', ".split(',').at(-1)", ".split(',').at(0)"),
    options: { exposure: { kind: 'proxy', origin: proxy } },
    tries: guesses((n) => ({ 'x-forwarded-for': `10.0.0.${n}, 192.0.2.9` })),
  },
  'no cookie': {
    wall: wallIn(
      'web-server',
      'own === undefined ? null :',
      'own === undefined ? (devices.list[0] ?? null) :',
    ),
    tries: async (target) => {
      await target.enter();
      return (await target.send('/ticket')).status === 200;
    },
  },
  'a cookie of no device': {
    wall: wallIn(
      'devices',
      'if (device === undefined) return null;\n    const isSame',
      'if (device === undefined) return this.list[0] ?? null;\n    const isSame',
    ),
    tries: withCookie(() => ({ cookie: 'drover=aaaaaaaaaaaa.b' })),
  },
  'a cookie with another secret': {
    wall: wallIn('devices', 'if (!isSame) return null;', ''),
    tries: async (target) => {
      const { cookie } = await target.enter();
      return (await target.send('/ticket', { cookie: `${cookie.slice(0, -3)}AAA` })).status === 200;
    },
  },
  'another user of this machine with the link': {
    wall: wallIn(
      'web-server',
      "exposure.kind === 'loopback' && isOtherUser(remotePort, localPort)",
      'remotePort === -1',
    ),
    options: { isOtherUser: () => true },
    tries: async (target) => (await target.enter()).status === 200,
  },
  'the cookie of a removed device': {
    wall: wallIn('devices', 'this.#save(kept);\n    this.#onRemoved(id);', 'this.#onRemoved(id);'),
    tries: async (target) => {
      const owner = await target.owner();
      const { cookie } = await target.paired(owner, 'see');
      await target.remove(owner, 'see');
      return (await target.send('/ticket', { cookie })).status === 200;
    },
  },
  'the open page of a removed device': {
    wall: wallIn('devices', 'this.#save(kept);\n    this.#onRemoved(id);', ''),
    tries: async (target) => {
      const owner = await target.owner();
      const { opened } = await target.paired(owner, 'see');
      await target.remove(owner, 'see');
      return await target.ask(opened, 'status');
    },
  },
  'a device that looks, which starts a run': { wall: roleWall, tries: may('see', 'run.start') },
  'a device that looks, which answers': {
    wall: roleWall,
    tries: may('see', 'answer', { id: 'q', choice: 'x' }),
  },
  'a device that answers, which approves a change': {
    wall: roleWall,
    tries: may('answer', 'approve', { id: 'x', seen: 'abc' }),
  },
  'a device that asks for a role that does not exist': {
    wall: wallIn(
      'start-web',
      "role === 'decide' || role === 'answer' ? role : 'see'",
      "'decide' as const",
    ),
    tries: may('root', 'run.start'),
  },
  'a request that is on no list': {
    wall: {
      file: 'protocol/web/access.ts',
      wall: 'if (!Object.hasOwn(roleNeeded, name)) return null;',
      instead: "if (!Object.hasOwn(roleNeeded, name)) return 'see';",
    },
    tries: may('decide', 'shutdown'),
  },
  'a request by a name that every object has': {
    wall: {
      file: 'protocol/web/access.ts',
      wall: 'if (!Object.hasOwn(roleNeeded, name)) return null;',
      instead: 'if (!(name in roleNeeded)) return null;',
    },
    tries: may('decide', 'toString'),
  },
};

suite('the walls of drover web, removed one by one', function () {
  this.timeout(60_000);
  let folder = '';
  suiteSetup(() => (folder = realpathSync(mkdtempSync(join(tmpdir(), 'drover-walls-')))));
  suiteTeardown(() => removeFolder(folder));
  setup(() => clock.begin());
  teardown(() => clock.end());

  async function getsIn({ options, tries }: Probe, weakening: Weakening | null): Promise<boolean> {
    const { web, port, asked } = await startWeakened(folder, weakening, options);
    const { origin } = new URL(web.newLink());
    try {
      return await tries(new Target(String(port), () => web.newLink(), asked, origin));
    } finally {
      await web.close();
    }
  }

  for (const [name, probe] of Object.entries(probes)) {
    test(`${name} gets in only if its wall is removed`, async () => {
      assert.equal(await getsIn(probe, null), false, 'with all walls');
      assert.equal(await getsIn(probe, probe.wall), true, 'without this wall');
    });
  }

  test('a network address needs TLS, which one check requires', async () => {
    const wall = wallIn('start-web', 'if (!checked.ok) throw', 'if (checked === null) throw');
    const options = { address: { host: '0.0.0.0', port: 0 } } satisfies Partial<WebOptions>;
    const probe: Probe = { wall, options, tries: async () => await Promise.resolve(true) };
    await assert.rejects(getsIn(probe, null), /Others on the network could read/u);
    assert.equal(await getsIn(probe, wall), true);
  });
});
