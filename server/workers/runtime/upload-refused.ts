// Why an upload is refused: the response to `POST /workspace`.

export class UploadRefused extends Error {
  readonly status: 400 | 408 | 413 | 500;

  constructor(status: 400 | 408 | 413 | 500, message: string) {
    super(message);
    this.name = 'UploadRefused';
    this.status = status;
  }
}

const shownNameMax = 300;

/** A name in the archive, quoted and on one line. */
export function shownName(name: string): string {
  const short = name.length > shownNameMax ? `${name.slice(0, shownNameMax)}…` : name;
  return JSON.stringify(short);
}

export function refusedEntry(name: string, reason: string): UploadRefused {
  return new UploadRefused(400, `entry ${shownName(name)}: ${reason}`);
}
