// Loaded by mocha before the tests: fast-check draws the same values in every gate run.

import fc from 'fast-check';
import { testSeed } from '../tier.ts';

fc.configureGlobal({ seed: testSeed });
