// `node scripts/generate-icons.ts` writes the icon catalogue of the relay from the icon package.
import { writeFileSync } from 'node:fs'
import { ICONS_FILE, iconsFile, readIconPackage } from './icon-assets.ts'

writeFileSync(ICONS_FILE, iconsFile(readIconPackage()))
