// The platform of this process. Only this file reads its name.

import { darwin } from './darwin.ts';
import { linux } from './linux.ts';
import type { Platform } from './port.ts';
import { windows } from './windows.ts';

export function platformNamed(name: NodeJS.Platform): Platform {
  switch (name) {
    case 'linux':
      return linux;
    case 'win32':
      return windows;
    default:
      return darwin;
  }
}

export const thisPlatform: Platform = platformNamed(process.platform);
