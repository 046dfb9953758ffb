// The embedded adapter in the suite for all adapters, and its own features.

import { describeDurable } from './conformance.ts';
import { embeddedHarness } from './embedded-harness.ts';

describeDurable('embedded', embeddedHarness);
