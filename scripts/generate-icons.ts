// `node scripts/generate-icons.ts` writes the icon catalogue of the relay, and the drawings of its icons for previews, from the icon package.
import { writeFileSync } from 'node:fs'
import { ICON_PATHS_FILE, iconPathsFile } from './icon-paths.ts'
import { ICONS_FILE, iconsFile, readIconPackage } from './icon-assets.ts'

const icons = readIconPackage()
writeFileSync(ICONS_FILE, iconsFile(icons))
writeFileSync(ICON_PATHS_FILE, iconPathsFile(icons))
