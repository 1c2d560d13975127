// `npm run docs` writes docs/reference/{config,errors,metrics,routes,shapes,tools}.md from the tables in the code; `--check` fails when they differ.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { references } from './reference-pages.ts'

const FOLDER = join(import.meta.dirname, '..', 'docs', 'reference')
const check = process.argv.includes('--check')

await mkdir(FOLDER, { recursive: true })
for (const [name, text] of Object.entries(references())) {
  const path = join(FOLDER, name)
  const present = await readFile(path, 'utf8').catch(() => '')
  if (present === text) continue
  if (check) {
    console.error(`docs/reference/${name} is not what the tables say; run \`npm run docs\``)
    process.exitCode = 1
  } else {
    await writeFile(path, text)
    console.log(`docs/reference/${name} written`)
  }
}
