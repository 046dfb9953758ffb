// The headers of a delivery: those of Drover's upstream format and of Standard Webhooks 1.0, so
// that a receiver can verify either.

import { createHmac } from 'node:crypto';

export interface SignedDelivery {
  readonly endpoint: string;
  readonly event: string;
  /** The ID is the same for all tries. */
  readonly id: string;
  readonly body: string;
  /** Time of the event (Unix seconds). */
  readonly eventAt: number;
  /** Time of this try (Unix seconds). */
  readonly sentAt: number;
  readonly secret: string | null;
}

export function webhookHeaders(delivery: SignedDelivery): Record<string, string> {
  const { endpoint, event, id, body, eventAt, sentAt, secret } = delivery;
  return {
    'content-type': 'application/json',
    'user-agent': 'Drover-Webhooks/1.0',
    'x-webhook-id': endpoint,
    'x-webhook-delivery-id': id,
    'x-webhook-event': event,
    'x-webhook-timestamp': String(eventAt),
    'webhook-id': id,
    'webhook-timestamp': String(sentAt),
    ...(secret !== null && {
      'x-webhook-signature': `sha256=${hmac(secret, body).toString('hex')}`,
      'x-drover-signature': `t=${sentAt},v1=${hmac(secret, `${sentAt}.${body}`).toString('hex')}`,
      'webhook-signature': `v1,${hmac(standardKey(secret), `${id}.${sentAt}.${body}`).toString('base64')}`,
    }),
  };
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/**
 * Standard Webhooks writes a key's bytes as `whsec_` and base64. Any other secret is used as it is.
 */
function standardKey(secret: string): string | Buffer {
  const prefix = 'whsec_';
  return secret.startsWith(prefix) ? Buffer.from(secret.slice(prefix.length), 'base64') : secret;
}
