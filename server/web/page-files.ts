// The files of the page, read once: the shell, the panels' bundles, and the files that a browser
// needs to install it. They contain no secrets: a browser that is not let in sees a page without
// data.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerResponse } from 'node:http';
import { framePage, manifest, shellPage } from './pages.ts';

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "frame-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "frame-ancestors 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

export const securityHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

const panels = ['tree', 'inbox', 'stream', 'grid', 'board', 'run', 'worktrees'] as const;

interface PageFile {
  readonly type: string;
  readonly read: (folder: string) => string | Buffer;
}

const script = 'text/javascript; charset=utf-8';
const html = 'text/html; charset=utf-8';

function bundle(name: string, type = script): readonly [string, PageFile] {
  return [`/${name}`, { type, read: (folder) => readFileSync(join(folder, name)) }];
}

const known: ReadonlyMap<string, PageFile> = new Map<string, PageFile>([
  ['/', { type: html, read: () => shellPage }],
  ['/manifest.webmanifest', { type: 'application/manifest+json', read: () => manifest }],
  bundle('web.js'),
  bundle('panel-api.js'),
  bundle('worker.js'),
  bundle('theme.css', 'text/css; charset=utf-8'),
  bundle('page.css', 'text/css; charset=utf-8'),
  bundle('icon.svg', 'image/svg+xml'),
  bundle('codicon.ttf', 'font/ttf'),
  ...panels.map((name) => bundle(`${name}.js`)),
  ...panels.map((name): readonly [string, PageFile] => [
    `/panel/${name}`,
    { type: html, read: () => framePage(name) },
  ]),
]);

export class PageFiles {
  readonly #folder: string;
  readonly #read = new Map<string, string | Buffer>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  send(path: string, response: ServerResponse): void {
    const file = known.get(path);
    if (file === undefined) {
      response.writeHead(404, securityHeaders).end();
      return;
    }
    const content = this.#read.get(path) ?? file.read(this.#folder);
    this.#read.set(path, content);
    response.writeHead(200, { ...securityHeaders, 'Content-Type': file.type }).end(content);
  }
}
