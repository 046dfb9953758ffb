// `drover web`: the page's server with this user's projects, until it is stopped.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from '../core/failure.ts';
import type { Client } from '../protocol/api.ts';
import type { RunningWeb, WebRequest, WebRole } from '../protocol/web/wire.ts';
import { Devices } from './devices.ts';
import { Invitations } from './invitations.ts';
import { knownProjects, stateFolder } from './known-projects.ts';
import { checkExposure } from './origin.ts';
import { PageSockets } from './page-sockets.ts';
import { ProjectLinks } from './project-links.ts';
import { startWebServer } from './web-server.ts';

export interface WebOptions extends WebRequest {
  /** `device`: the name of the user's browser. */
  readonly openClient: (root: string, device?: string) => Promise<Client>;
  /** Whether a loopback connection between these ports is known to be another user's. */
  readonly isOtherUser: (from: number, to: number) => boolean;
}

const firstLinkMs = 10 * 60_000;
const pairLinkMs = 2 * 60_000;

export async function startWeb(request: WebOptions): Promise<RunningWeb> {
  const { address, exposure } = request;
  const checked = checkExposure(address, exposure);
  if (!checked.ok) throw new Refusal('bad_address', checked.error);
  const folder = stateFolder(request.env, 'web');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const devices = new Devices(join(folder, 'devices.json'), Date.now, (id) => sockets.end(id));
  const invitations = new Invitations(Date.now);
  const invite = (role: WebRole, name: string, lifeMs: number): string =>
    `${server.origin}/#token=${invitations.add({ role, name }, lifeMs)}`;
  const links = new ProjectLinks({
    read: () => knownProjects(request.env, request.root),
    open: request.openClient,
    tell: (message) => sockets.tell(message),
  });
  const sockets: PageSockets = new PageSockets({
    devices,
    links,
    nowMs: Date.now,
    own: {
      'web.open': ({ project }) => {
        links.find(String(project))?.connect();
        return Promise.resolve({});
      },
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
  const files = join(import.meta.dirname, 'webview');
  const server = await startWebServer({
    address,
    exposure,
    folder: files,
    devices,
    invitations,
    sockets,
    isOtherUser: request.isOtherUser,
  }).catch((error: unknown) => {
    throw new Refusal('bad_address', `Cannot listen there: ${(error as Error).message}.`);
  });
  return {
    newLink: () => invite('decide', '', firstLinkMs),
    close: async () => {
      links.close();
      await server.close();
    },
  };
}

function unknownDevice(): Refusal {
  return new Refusal('unknown_id', 'No such device is let in here.');
}
