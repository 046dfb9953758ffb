// `drover web`: the page's server with the projects of this user, until it is stopped.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { Refusal } from '../core/failure.ts';
import { replaceFile } from '../files/write-whole.ts';
import type { Client } from '../protocol/api.ts';
import type { RunningWeb, WebProject, WebRequest, WebRole } from '../protocol/web/wire.ts';
import { Devices } from './devices.ts';
import { Invitations } from './invitations.ts';
import { checkExposure } from './origin.ts';
import { PageSockets } from './page-sockets.ts';
import { ProjectLink } from './project-link.ts';
import { startWebServer } from './web-server.ts';

export interface WebOptions extends WebRequest {
  /** `device`: the name of the browser that a person uses. */
  readonly openClient: (root: string, device?: string) => Promise<Client>;
}

const firstLinkMs = 10 * 60_000;
const pairLinkMs = 2 * 60_000;
const projectsMax = 50;

export async function startWeb(request: WebOptions): Promise<RunningWeb> {
  const { address, exposure } = request;
  const checked = checkExposure(address, exposure);
  if (!checked.ok) throw new Refusal('bad_address', checked.error);
  const folder = stateFolder(request.env);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const links = new Map<string, ProjectLink>();
  const devices = new Devices(join(folder, 'devices.json'), Date.now, (id) => sockets.end(id));
  const invitations = new Invitations(Date.now);
  const invite = (role: WebRole, name: string, lifeMs: number): string =>
    `${server.origin}/#token=${invitations.add({ role, name }, lifeMs)}`;
  const sockets: PageSockets = new PageSockets({
    devices,
    links,
    nowMs: Date.now,
    own: {
      'web.devices': () => Promise.resolve(devices.list),
      'web.rename': async ({ device, name }) => {
        if (!devices.rename(String(device), String(name))) throw unknownDevice();
        return await Promise.resolve({});
      },
      'web.remove': async ({ device }) => {
        if (!devices.remove(String(device))) throw unknownDevice();
        return await Promise.resolve({});
      },
      'web.pair': ({ role, name }) => {
        const least = role === 'decide' || role === 'answer' ? role : 'see';
        return Promise.resolve({ url: invite(least, String(name), pairLinkMs) });
      },
    },
  });
  for (const project of knownProjects(folder, request.root)) {
    links.set(project.id, linkTo(project, request, sockets));
  }
  const files = join(import.meta.dirname, 'webview');
  const server = await startWebServer({
    address,
    exposure,
    folder: files,
    devices,
    invitations,
    sockets,
  }).catch((error: unknown) => {
    throw new Refusal('bad_address', `Cannot listen there: ${(error as Error).message}.`);
  });
  return {
    url: invite('decide', '', firstLinkMs),
    close: async () => {
      for (const link of links.values()) link.close();
      await server.close();
    },
  };
}

function linkTo(project: WebProject, request: WebOptions, sockets: PageSockets): ProjectLink {
  return new ProjectLink({
    project,
    open: request.openClient,
    onConnection: (connection) =>
      sockets.tell({ type: 'connection', project: project.id, connection }),
    onFeed: (seq) => sockets.tell({ type: 'feed', project: project.id, seq }),
  });
}

function unknownDevice(): Refusal {
  return new Refusal('unknown_id', 'No such device is let in here.');
}

function stateFolder(env: WebRequest['env']): string {
  const base = env['XDG_STATE_HOME'] ?? '';
  const home = env['HOME'] ?? homedir();
  return join(base === '' ? join(home, '.local', 'state') : base, 'drover', 'web');
}

/** This project first, then those that `drover web` was started in before and that still exist. */
function knownProjects(folder: string, root: string): readonly WebProject[] {
  const path = join(folder, 'projects.json');
  const roots = [root, ...readRoots(path).filter((known) => known !== root)]
    .filter((known) => known === root || existsSync(join(known, '.drover')))
    .slice(0, projectsMax);
  replaceFile(path, `${JSON.stringify(roots, null, 1)}\n`);
  return roots.map((known) => ({
    id: createHash('sha256').update(known).digest('hex').slice(0, 12),
    name: basename(known),
    root: known,
  }));
}

function readRoots(path: string): readonly string[] {
  try {
    const raw: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return Array.isArray(raw) ? raw.filter((each) => typeof each === 'string') : [];
  } catch {
    return [];
  }
}
