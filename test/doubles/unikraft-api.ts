// Unikraft Cloud's platform API, with the types of its own client (`@unikraft/cloud` 0.2.0):
// in-memory instances and services.

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PlatformOptions {
  readonly key: string;
  /** Plans that support neither. */
  readonly refusesTags?: boolean;
  /** `service`: only the service group contains the address. `none`: nothing does. */
  readonly domains?: 'instance' | 'service' | 'none';
  /** The key under which the service groups are returned. */
  readonly groupsName?: 'service_groups' | 'services';
  /** How the answer to a creation is corrupted; the instance exists anyway. */
  readonly spoils?: 'partial' | 'item' | 'cut';
  /** This many deletions fail before one succeeds. */
  readonly deleteFailures?: number;
}

export interface PlatformInstance {
  readonly uuid: string;
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Platform {
  readonly url: string;
  readonly instances: Map<string, PlatformInstance>;
  readonly requests: readonly string[];
  readonly authorizations: ReadonlySet<string>;
  close(): Promise<void>;
}

export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const instances = new Map<string, PlatformInstance>();
  const requests: string[] = [];
  const authorizations = new Set<string>();
  let deleteFailures = options.deleteFailures ?? 0;
  const domains = [{ fqdn: 'worker-1.fra0.unikraft.app.' }];
  const server = createServer((request, response) => {
    const say = (status: number, envelope: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ op_time_us: 1, ...envelope }));
    };
    const succeed = (data: object): void => say(200, { status: 'success', data });
    const fail = (status: number, message: string): void =>
      say(status, { status: 'error', message, errors: [{ status }] });
    const { pathname } = new URL(request.url ?? '', 'http://platform');
    requests.push(`${request.method} ${pathname}`);
    authorizations.add(request.headers.authorization ?? '');
    void bodyOf(request).then((text) => {
      if (request.headers.authorization !== `Bearer ${options.key}`) return fail(401, 'no access');
      const body: unknown = text === '' ? null : JSON.parse(text);
      if (request.method === 'POST') {
        const fields = body as Record<string, unknown>;
        if (options.refusesTags === true && 'tags' in fields) return fail(400, 'unknown field');
        const uuid = randomUUID();
        const name = String(fields['name']);
        instances.set(uuid, { uuid, name, body: fields });
        if (options.spoils === 'cut') return response.destroy();
        const group =
          options.domains === undefined || options.domains === 'instance'
            ? { uuid: 'group-1', domains }
            : { uuid: 'group-1' };
        const isBad = options.spoils === 'item';
        const item = { uuid, name, state: 'starting', service_group: group };
        const told = isBad ? { status: 'error', message: 'no capacity', name } : item;
        const status = options.spoils === 'partial' ? 'partial_success' : 'success';
        return say(200, { status, data: { instances: [told] } });
      }
      if (pathname.startsWith('/v1/services/')) {
        const found = options.domains === 'none' ? [] : domains;
        const groups = [{ status: 'success', uuid: 'group-1', domains: found }];
        return succeed({ [options.groupsName ?? 'service_groups']: groups });
      }
      if (request.method === 'GET') {
        const listed = [...instances.values()].map(({ uuid, name, body: fields }) => ({
          uuid,
          name,
          tags: fields['tags'],
        }));
        return succeed({ instances: listed });
      }
      const [{ uuid = '' } = {}] = body as { uuid?: string }[];
      if (request.method === 'PUT') return succeed({ instances: [{ uuid, status: 'success' }] });
      if (deleteFailures > 0) {
        deleteFailures -= 1;
        return fail(500, 'try again');
      }
      if (!instances.delete(uuid)) return fail(404, 'no such instance');
      return succeed({ instances: [{ uuid, status: 'success' }] });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    instances,
    requests,
    authorizations,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  return text;
}
