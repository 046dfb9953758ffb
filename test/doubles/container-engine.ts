// A container engine with its documented API (Engine API, supported by Docker and Podman), on a
// socket file: requests are recorded, and a container is whatever service the test provides on its
// port.

import { createServer, type IncomingMessage } from 'node:http';

export interface EngineOptions {
  readonly socketPath: string;
  readonly images: readonly string[];
  /** Port of this machine on which a started container is published. */
  readonly hostPort: number;
  /** Answers of `start` before it succeeds. */
  readonly startStatus?: number;
  /**
   * Starts a container's service; resolves with its port on this machine, instead of `hostPort`.
   */
  readonly onStart?: (container: EngineContainer) => Promise<number>;
  readonly onRemove?: (container: EngineContainer) => Promise<void>;
}

export interface EngineContainer {
  readonly id: string;
  readonly name: string;
  readonly body: {
    readonly Image: string;
    readonly Cmd: readonly string[];
    readonly Env: readonly string[];
    readonly Labels: Readonly<Record<string, string>>;
    readonly HostConfig: Readonly<Record<string, unknown>>;
  };
  isRunning: boolean;
  hostPort?: number;
}

export interface ContainerEngine {
  readonly containers: ReadonlyMap<string, EngineContainer>;
  readonly requests: readonly string[];
  close(): Promise<void>;
}

export async function startContainerEngine(options: EngineOptions): Promise<ContainerEngine> {
  const containers = new Map<string, EngineContainer>();
  const requests: string[] = [];
  const find = (key: string): EngineContainer | undefined =>
    containers.get(key) ?? [...containers.values()].find(({ name }) => name === key);
  const server = createServer((request, response) => {
    const say = (status: number, value?: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(value === undefined ? '' : JSON.stringify(value));
    };
    const url = new URL(request.url ?? '', 'http://engine');
    requests.push(`${request.method} ${url.pathname}`);
    const [, , key = '', verb] = url.pathname.split('/');
    void bodyOf(request).then(async (text) => {
      const container = find(key);
      if (key === 'create') {
        const body = JSON.parse(text) as EngineContainer['body'];
        const name = url.searchParams.get('name') ?? '';
        if (!options.images.includes(body.Image)) {
          return say(404, { message: `No such image: ${body.Image}` });
        }
        if (find(name) !== undefined) return say(409, { message: 'name is in use' });
        const id = String(containers.size + 1).padStart(64, 'a');
        containers.set(id, { id, name, body, isRunning: false });
        return say(201, { Id: id, Warnings: [] });
      }
      if (key === 'json') {
        const { label } = JSON.parse(url.searchParams.get('filters') ?? '{}') as {
          label: string[];
        };
        const [name = '', value] = (label[0] ?? '').split(/=(.*)/);
        const found = [...containers.values()].filter(({ body }) => body.Labels[name] === value);
        return say(
          200,
          found.map((one) => ({ Id: one.id, Names: [`/${one.name}`], Labels: one.body.Labels })),
        );
      }
      if (container === undefined) return say(404, { message: `No such container: ${key}` });
      if (request.method === 'DELETE') {
        containers.delete(container.id);
        await options.onRemove?.(container);
        return say(204);
      }
      if (verb === 'start') {
        if (options.startStatus !== undefined) return say(options.startStatus, { message: 'full' });
        if (options.onStart !== undefined) container.hostPort = await options.onStart(container);
        container.isRunning = true;
        return say(204);
      }
      const bindings = [
        { HostIp: '127.0.0.1', HostPort: String(container.hostPort ?? options.hostPort) },
      ];
      return say(200, {
        State: { Running: container.isRunning, Status: container.isRunning ? 'running' : 'exited' },
        NetworkSettings: { Ports: container.isRunning ? { '8080/tcp': bindings } : {} },
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(options.socketPath, resolve));
  return {
    containers,
    requests,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  return text;
}
