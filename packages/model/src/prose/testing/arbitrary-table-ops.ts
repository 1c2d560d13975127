import * as fc from 'fast-check'
import type { TableOpArgs } from '../tables/op-args.ts'

/** Any table operation on rows and columns up to `most`. `side`, `attrs` and `width` generate the values of those arguments. */
export function anyTableOp(given: {
  readonly most: number
  readonly side: fc.Arbitrary<TableOpArgs['side']>
  readonly attrs: { readonly [name in 'align' | 'backgroundColor' | 'scope']?: fc.Arbitrary<string | undefined> }
  readonly width: fc.Arbitrary<number | undefined>
}): fc.Arbitrary<TableOpArgs> {
  const place = fc.nat(given.most)
  const { side, attrs, width } = given
  return fc.oneof(
    fc.record({ op: fc.constant('addRow'), row: place, side }),
    fc.record({ op: fc.constant('addColumn'), col: place, side }),
    fc.record({ op: fc.constant('deleteRow'), row: place }),
    fc.record({ op: fc.constant('deleteColumn'), col: place }),
    fc.record({ op: fc.constant('mergeCells'), fromRow: place, fromCol: place, toRow: place, toCol: place }),
    fc.record({ op: fc.constant('splitCell'), row: place, col: place }),
    fc.record({ op: fc.constant('setCellAttrs'), row: place, col: place, ...attrs }),
    fc.record({ op: fc.constantFrom('moveRow', 'moveColumn'), from: place, to: place }),
    fc.record({ op: fc.constantFrom('toggleHeaderRow', 'toggleHeaderColumn') }),
    fc.record({ op: fc.constant('setColumnWidth'), col: place, width }),
  )
}
