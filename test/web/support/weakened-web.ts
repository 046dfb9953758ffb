// `drover web` without one of its walls: its sources are built with one piece replaced, and loaded.

import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { Client } from '../../../server/protocol/api.ts';
import type { WebOptions } from '../../../server/web/start-web.ts';
import type { RunningWeb } from '../../../server/protocol/web/wire.ts';
import { freePort } from '../../free-port.ts';

export interface Weakening {
  /** Below `server/`. */
  readonly file: string;
  readonly wall: string;
  readonly instead: string;
}

type StartWeb = (options: WebOptions) => Promise<RunningWeb>;

const server = join(import.meta.dirname, '..', '..', '..', 'server');

/** Null leaves all walls in place. Rejects if the source does not contain the wall exactly once. */
async function weakenedWeb(folder: string, weakening: Weakening | null): Promise<StartWeb> {
  const outfile = join(folder, `web-${Math.random().toString(36).slice(2)}.mjs`);
  const changed = weakening === null ? null : join(server, weakening.file);
  await build({
    entryPoints: [join(server, 'web', 'start-web.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'silent',
    plugins: [
      {
        name: 'one wall less',
        setup: (plugin) => {
          plugin.onLoad({ filter: /\.ts$/ }, ({ path }) => {
            if (weakening === null || path !== changed) return null;
            const parts = readFileSync(path, 'utf8').split(weakening.wall);
            if (parts.length !== 2) throw new Error(`${weakening.file}: ${weakening.wall}`);
            return { contents: parts.join(weakening.instead), loader: 'ts' };
          });
        },
      },
    ],
  });
  const loaded = (await import(pathToFileURL(outfile).href)) as { startWeb: StartWeb };
  return loaded.startWeb;
}

export interface WeakenedWeb {
  readonly web: RunningWeb;
  readonly port: number;
  /** Requests that reached a backend. */
  readonly asked: readonly string[];
}

/** Started on a free port, with a backend that answers everything. */
export async function startWeakened(
  folder: string,
  weakening: Weakening | null,
  options: Partial<WebOptions> = {},
): Promise<WeakenedWeb> {
  const startWeb = await weakenedWeb(folder, weakening);
  // Behind a proxy, the link does not name the port.
  const port = await freePort();
  const asked: string[] = [];
  const client = {
    call: async (name: string) => {
      if (name !== 'status') asked.push(name);
      return await Promise.resolve({ seq: 1 });
    },
    follow: async () => await Promise.resolve(),
    close: () => {},
  } as unknown as Client;
  const web = await startWeb({
    root: folder,
    env: { HOME: mkdtempSync(join(folder, 'home-')) },
    address: { host: '127.0.0.1', port },
    exposure: { kind: 'loopback' },
    openClient: async () => await Promise.resolve(client),
    isOtherUser: () => false,
    ...options,
  });
  return { web, port, asked };
}
