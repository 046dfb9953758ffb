// Waits for a fact about another process that nobody tells us of; bounded, and says what it waited for.

const lookEveryMs = 15;
const waitMaxMs = 60_000;

export async function eventually<T>(
  what: string,
  look: () => T | Promise<T>,
  maxMs = waitMaxMs,
): Promise<Exclude<T, null | undefined | false>> {
  const endMs = Date.now() + maxMs;
  for (;;) {
    const seen = await look();
    if (seen !== null && seen !== undefined && seen !== false) {
      return seen as Exclude<T, null | undefined | false>;
    }
    if (Date.now() > endMs) throw new Error(`still not after ${maxMs / 1000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}
