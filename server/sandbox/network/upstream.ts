// A proxy that the machine itself needs to reach the network. Allowed connections use it.

import { request } from 'node:http';
import type { Socket } from 'node:net';
import { hostName, isOwnMachine } from '../../core/settings/network-hosts.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns null if the host is reached without a proxy. */
export function findUpstream(env: Environment, host: string): URL | null {
  const name = hostName(host);
  const text = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']
    .map((variable) => env[variable] ?? '')
    .find((value) => value !== '');
  if (text === undefined || isOwnMachine(name)) return null;
  const without = (env['NO_PROXY'] ?? env['no_proxy'] ?? '').toLowerCase().split(/[\s,]+/);
  const isWithout = without.some((entry) => {
    const domain = entry.replace(/^\*?\.?/, '').replace(/:\d+$/, '');
    return entry === '*' || (domain !== '' && (name === domain || name.endsWith(`.${domain}`)));
  });
  if (isWithout) return null;
  const url = text.includes('://') ? text : `http://${text}`;
  return URL.canParse(url) ? new URL(url) : null;
}

/** Asks the proxy for a connection to the host. */
export function upstreamConnect(proxy: URL, host: string, port: number): Promise<Socket> {
  const user = decodeURIComponent(proxy.username);
  const login = Buffer.from(`${user}:${decodeURIComponent(proxy.password)}`).toString('base64');
  return new Promise((resolve, reject) => {
    if (proxy.protocol !== 'http:') {
      reject(new Error(`a proxy by ${proxy.protocol}// is not supported`));
      return;
    }
    const place = `${host}:${port}`;
    const asked = request({
      host: hostName(proxy.hostname),
      port: proxy.port === '' ? 80 : Number(proxy.port),
      method: 'CONNECT',
      path: place,
      headers: { host: place, ...(user !== '' && { 'proxy-authorization': `Basic ${login}` }) },
      timeout: 30_000,
    });
    asked.once('timeout', () => asked.destroy(new Error('no answer from the proxy')));
    asked.once('error', reject);
    asked.once('connect', (answer, socket) => {
      if (answer.statusCode === 200) resolve(socket);
      else reject(new Error(`the proxy answered ${answer.statusCode}`));
    });
    asked.end();
  });
}
