// The views of webhooks: endpoints and deliveries, without secrets and without the paths of URLs.

export interface WebhookEndpointView {
  readonly name: string;
  /** Scheme and host. */
  readonly url: string;
  /** Empty = all events. */
  readonly events: readonly string[];
  readonly format: string;
  readonly enabled: boolean;
  readonly signed: boolean;
  /** Why the endpoint is no longer used, or null. */
  readonly gone: string | null;
  readonly pending: number;
  readonly sent: number;
  readonly failed: number;
}

export interface WebhookDeliveryView {
  readonly id: string;
  readonly endpoint: string;
  readonly event: string;
  /** Number of its event in the feed. */
  readonly seq: number;
  readonly state: 'pending' | 'sent' | 'failed';
  readonly tries: number;
  /** Unix seconds; null if it is not sent any more. */
  readonly next_at: number | null;
  readonly created_at: number;
  readonly ended_at: number | null;
  /** The response to the last try. */
  readonly last_answer: string | null;
}

export interface WebhookList {
  readonly endpoints: readonly WebhookEndpointView[];
  readonly deliveries: readonly WebhookDeliveryView[];
}

export interface WebhookTestResult {
  readonly endpoint: string;
  readonly ok: boolean;
  /** `HTTP 200`, or why no response arrived. */
  readonly answer: string;
}
