// The pixels of a picture, decoded by the browser.

import { sharedBrowser } from '../../vscode/host/browser.ts';

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue, alpha of each pixel, row by row. */
  readonly data: readonly number[];
}

export async function pixelsOf(png: Buffer): Promise<Pixels> {
  const browser = await sharedBrowser();
  const page = await browser.newPage();
  try {
    return await page.evaluate(async (base64) => {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      const { width, height } = picture;
      const context = new OffscreenCanvas(width, height).getContext('2d');
      if (context === null) throw new Error('there is no canvas');
      context.drawImage(picture, 0, 0);
      return { width, height, data: [...context.getImageData(0, 0, width, height).data] };
    }, png.toString('base64'));
  } finally {
    await page.close();
  }
}
