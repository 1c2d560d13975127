// `node scripts/generate-advance-widths.ts` writes the table of advance widths from the font that previews are drawn with.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { currentWidthsFile, WIDTHS_FILE } from './advance-widths.ts'

mkdirSync(dirname(WIDTHS_FILE), { recursive: true })
writeFileSync(WIDTHS_FILE, currentWidthsFile())
