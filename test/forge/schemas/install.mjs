// Installs GitHub's published description of its interface, once.

import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installOnce, npmCi } from '../../install-once.mjs';

const here = dirname(fileURLToPath(import.meta.url));
await installOnce(here, () => npmCi(here));
