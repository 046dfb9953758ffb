// web: the board in a browser, until Ctrl-C.

import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
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
  readonly open?: boolean;
  readonly links?: boolean;
}

export async function web(context: CommandContext, options: WebOptions): Promise<number> {
  const exposure = exposureFrom(options);
  const root = await context.root();
  const { startWeb } = await context.surroundings.loadBackends();
  const { env } = context.surroundings;
  const running = await startWeb({ root, env, address: options.listen, exposure });
  const print = (): void => {
    const url = running.newLink();
    if (context.json) context.printJson({ url });
    else context.say(`Drover is at ${url}`);
  };
  if (options.open === true) await openOr(context, running.newLink(), print);
  else print();
  if (!context.json) context.say('The link admits one browser, once. Press Ctrl-C to stop.');
  await Promise.race([
    new Promise<void>((resolve) => context.surroundings.onInterrupt(resolve)),
    ...(options.links === true ? [eachLine(context, print)] : []),
  ]);
  await running.close();
  return exitCodes.done;
}

/** If no browser can be opened, the user follows the printed link. */
async function openOr(context: CommandContext, url: string, print: () => void): Promise<void> {
  const { openLink } = await import('../../platform/open-link.ts');
  if (await openLink(url, context.surroundings.env)) {
    if (context.json) context.printJson({ url: new URL('/', url).href });
    else context.say(`Drover is at ${new URL('/', url).href}, now open in your browser.`);
    return;
  }
  context.tell('No browser could be opened. Open the link yourself.');
  print();
}

async function eachLine({ surroundings }: CommandContext, print: () => void): Promise<void> {
  const lines = createInterface({ input: surroundings.pipes().input, terminal: false });
  for await (const _ of lines) print();
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
        `--behind-proxy must be the address of the proxy, such as https://drover.example.com, not "${behindProxy}".`,
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
