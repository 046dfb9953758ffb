// The addresses and names by which a page may be reached. Another `Host` is a name that was made to
// resolve to this machine; another `Origin` is a page of another site. Pure.

import { X509Certificate } from 'node:crypto';
import { err, ok, type Result } from '../core/failure.ts';
import type { ListenAddress } from '../core/settings/listen-address.ts';
import type { WebExposure } from '../protocol/web/wire.ts';

export function isLoopback(host: string | null): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/u.test(host ?? '');
}

/** The error is a sentence that names the missing condition for listening on this address. */
export function checkExposure(address: ListenAddress, exposure: WebExposure): Result<null, string> {
  if (exposure.kind !== 'loopback' || isLoopback(address.host)) return ok(null);
  const place = address.host ?? 'every address';
  return err(
    `Others on the network could read what is sent to ${place}. ` +
      'Use --tls-cert and --tls-key, or --behind-proxy with the address of a proxy that has TLS.',
  );
}

/**
 * Whether the server may be reached by this origin (`scheme://host[:port]`). A page must have the
 * same origin as the request itself, because another port of this machine is another page.
 */
export function isOwnOrigin(origin: string, port: number, exposure: WebExposure): boolean {
  if (exposure.kind === 'proxy') return origin === exposure.origin;
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (url === null || url.origin !== origin) return false;
  const isTls = exposure.kind === 'tls';
  if (url.protocol !== (isTls ? 'https:' : 'http:')) return false;
  const host = url.hostname.replace(/^\[|\]$/gu, '');
  // A forwarded port may have another number.
  if (exposure.kind === 'loopback') return isLoopback(host);
  if (Number(url.port || (isTls ? 443 : 80)) !== port) return false;
  return isNamedBy(exposure.certificate, host);
}

/** The origin that a request names by its `Host`. */
export function requestOrigin(host: string, exposure: WebExposure): string {
  if (exposure.kind === 'proxy') {
    return new URL(exposure.origin).host === host ? exposure.origin : `http://${host}`;
  }
  return `${exposure.kind === 'tls' ? 'https' : 'http'}://${host}`;
}

function isNamedBy(certificate: string, host: string): boolean {
  const parsed = new X509Certificate(certificate);
  return parsed.checkHost(host) !== undefined || parsed.checkIP(host) !== undefined;
}
