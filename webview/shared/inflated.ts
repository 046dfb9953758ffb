// Data that the extension has compressed: JSON in UTF-8, deflated. Passing bytes through VS Code
// costs far less than passing the objects.

export async function inflated(bytes: Uint8Array): Promise<unknown> {
  const packed = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream();
  const json = packed.pipeThrough(new DecompressionStream('deflate-raw'));
  return await new Response(json).json();
}
