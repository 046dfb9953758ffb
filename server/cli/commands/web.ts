// web: the board in a browser, until Ctrl-C.

import { readFileSync } from 'node:fs';
import { Refusal } from '../../core/failure.ts';
import type { ListenAddress } from '../../core/settings/listen-address.ts';
import type { WebExposure } from '../../protocol/web/wire.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';

export interface WebOptions {
  readonly listen: ListenAddress;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly behindProxy?: string;
}

export async function web(context: CommandContext, options: WebOptions): Promise<number> {
  const exposure = exposureFrom(options);
  const root = await context.root();
  const { startWeb } = await context.surroundings.loadBackends();
  const { env } = context.surroundings;
  const running = await startWeb({ root, env, address: options.listen, exposure });
  if (context.json) context.printJson({ url: running.url });
  else {
    context.say(`Drover is at ${running.url}`);
    context.say('The link lets one browser in, once. Press Ctrl-C to stop.');
  }
  await new Promise<void>((resolve) => context.surroundings.onInterrupt(resolve));
  await running.close();
  return exitCodes.done;
}

function exposureFrom({ tlsCert, tlsKey, behindProxy }: WebOptions): WebExposure {
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new Refusal('bad_value', '--tls-cert and --tls-key go together.');
  }
  if (behindProxy !== undefined) {
    const url = URL.canParse(behindProxy) ? new URL(behindProxy) : null;
    if (url === null || url.protocol !== 'https:') {
      throw new Refusal(
        'bad_address',
        `--behind-proxy takes the address of the proxy, as https://drover.example.com, not "${behindProxy}".`,
      );
    }
    return { kind: 'proxy', origin: url.origin };
  }
  if (tlsCert === undefined || tlsKey === undefined) return { kind: 'loopback' };
  return { kind: 'tls', certificate: readPem(tlsCert), key: readPem(tlsKey) };
}

function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Refusal('file', `Cannot read ${path}: ${(error as Error).message}.`);
  }
}
