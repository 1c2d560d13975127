import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { blankBody } from '../packages/model/src/body-blank.ts'
import { isRefusal } from '../packages/model/src/edit.ts'
import { runEdit } from '../packages/model/src/edits.ts'
import { renderPage } from '../packages/model/src/render/page-svg.ts'
import { rasteriseWithin } from '../packages/server/src/previews/rasterise.ts'

const FOLDER = join(import.meta.dirname, '..', 'docs', 'pictures')

/** A picture of the guides. */
export interface GuidePicture {
  /** File name of the PNG. The call that draws it is in the file of the same name with the ending `.json`. */
  readonly file: string
  /** The PNG that `get_page` with `image: true` returns for a blank page after that call. */
  readonly png: Uint8Array
}

/** Draws the pictures of the guides again, each from the generate_diagram call beside it. [AG-109] */
export function guidePictures(): readonly GuidePicture[] {
  const calls = readdirSync(FOLDER).filter((name) => name.endsWith('.json'))
  return calls.map((name) => {
    const call = JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as { readonly arguments: Readonly<Record<string, unknown>> }
    return { file: name.replace(/json$/, 'png'), png: drawnBy(call.arguments) }
  })
}

function drawnBy(args: Readonly<Record<string, unknown>>): Uint8Array {
  const canvasPageId = String(args['pageId'])
  const blank = blankBody({ id: 'd', title: 'D', nowMs: 0, canvasPageId, prosePageId: 'p', form: 'list' })
  let minted = 0
  const edited = runEdit('generate_diagram', blank, args, {
    nowMs: 0,
    random: (count) => String(minted++).padStart(count, '0'),
  })
  if (isRefusal(edited)) throw new Error(`${edited.code}: ${edited.message}`)
  const [page] = edited.body.canvas.pages
  if (page === undefined) throw new Error('the blank body has no canvas page')
  return rasteriseWithin(renderPage(page, 1))
}

if (import.meta.main) for (const { file, png } of guidePictures()) writeFileSync(join(FOLDER, file), png)
