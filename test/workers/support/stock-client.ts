// An execution client as stock has it, written from the worker contract alone (§2 to §7): it knows no `X-Drover-Worker`, no
// `partial`, no comments and no cancel. It shares no code with Drover.

import { request, type IncomingMessage } from 'node:http';

export interface StockResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  readonly workspace: Buffer;
}

const healthTries = 100;
const readTries = 5;

export class StockClient {
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** Wait for health, upload, run, follow to the end, download. */
  async runJob(archive: Uint8Array, command: string): Promise<StockResult> {
    await this.#waitForHealth();
    const uploaded = await this.#read(await this.#send('POST', '/workspace', archive));
    if (uploaded.status !== 200) throw new Error(`upload: ${String(uploaded.status)}`);
    const started = await this.#read(
      await this.#send('POST', '/exec', Buffer.from(JSON.stringify({ command }))),
    );
    if (started.status !== 200) throw new Error(`exec: ${String(started.status)}`);
    const { job_id: job } = JSON.parse(started.body.toString()) as { job_id: string };
    const output = await this.#follow(job);
    const { status, body } = await this.#read(await this.#send('GET', '/workspace'));
    if (status !== 200) throw new Error(`download: ${String(status)}`);
    return { ...output, workspace: body };
  }

  async #waitForHealth(): Promise<void> {
    for (let tries = 0; tries < healthTries; tries++) {
      const answer = await this.#send('GET', '/health').then(this.#read, () => null);
      if (answer?.status === 200) return;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    throw new Error('never healthy');
  }

  async #follow(job: string): Promise<Omit<StockResult, 'workspace'>> {
    const text = { stdout: '', stderr: '' };
    let lastId: string | null = null;
    for (let tries = 0; tries < readTries; tries++) {
      const headers = lastId === null ? {} : { 'Last-Event-ID': lastId };
      const response = await this.#send('GET', `/exec/${job}/stream`, undefined, headers);
      if (response.statusCode !== 200) throw new Error(`stream: ${String(response.statusCode)}`);
      for await (const line of linesOf(response)) {
        // Line by line, and only the two kinds that it knows.
        if (line.startsWith('id:')) lastId = line.slice(3).trim();
        if (!line.startsWith('data:')) continue;
        const event = JSON.parse(line.slice(5)) as Record<string, unknown>;
        if (event['done'] === true) return { ...text, exitCode: Number(event['exit_code']) };
        const name = event['stream'] === 'stderr' ? 'stderr' : 'stdout';
        text[name] += `${String(event['line'])}\n`;
      }
    }
    throw new Error('the job never ended');
  }

  async #send(
    method: string,
    path: string,
    body?: Uint8Array,
    headers: Record<string, string> = {},
  ): Promise<IncomingMessage> {
    return await new Promise((resolve, reject) => {
      const type = path === '/exec' ? 'application/json' : 'application/gzip';
      request(new URL(path, this.#url), {
        method,
        headers: {
          Authorization: `Bearer ${this.#token}`,
          ...(body !== undefined && { 'Content-Type': type }),
          ...headers,
        },
      })
        .on('response', resolve)
        .on('error', reject)
        .end(body);
    });
  }

  readonly #read = async (message: IncomingMessage): Promise<{ status: number; body: Buffer }> => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk as Buffer);
    return { status: message.statusCode ?? 0, body: Buffer.concat(chunks) };
  };
}

async function* linesOf(message: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of message.setEncoding('utf8')) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
