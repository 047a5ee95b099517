// "tamp/elements/define": importing this registers <compaction-badge> and <context-meter>.
import { defineTampElements } from './elements.js';

defineTampElements();
