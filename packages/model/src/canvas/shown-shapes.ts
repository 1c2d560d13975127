import type { DocumentBody, Shape } from '../body.ts'
import { isRefusal, type Refusal } from '../edit.ts'
import { type Naming, namingOf, type Printed } from '../prose/block-names.ts'
import { findCanvasPage } from './find-page.ts'
import { findShape } from './named-shapes.ts'
import { type PageGeometry, shapeValues } from './page-geometry.ts'
import { readablePage, readBack, type ShapeDsl } from './read-back.ts'
import { shapeStamp } from './shape-stamp.ts'

/** Shows a shape as answers do: read back, with its stamp in a member of its own. The id stays bare, since other shapes refer to it. [AG-11] */
export function shownShape(shape: Shape, page: PageGeometry, naming: Naming): ShapeDsl {
  const { id, ...members } = readBack(shape, page)
  return { id: id as string, ...(naming === 'bare' ? {} : { stamp: shapeStamp(shape.value) }), ...members }
}

export interface GetShape extends Printed {
  readonly pageId: string
  readonly id: string
}

/** Reads one shape of a page. Refuses an unknown page or shape; accepts an old stamp. [TOOL-get_shape] */
export function getShape(body: DocumentBody, args: GetShape): { readonly shape: ShapeDsl } | Refusal {
  const page = findCanvasPage(body, args.pageId)
  if (isRefusal(page)) return page
  const { naming } = args
  const shape = findShape({ body, page, shapes: shapeValues(page), naming, isRead: true }, args.id)
  return isRefusal(shape) ? shape : { shape: shownShape(shape, readablePage(page), namingOf(args)) }
}
