import { refused, type Refusal } from '../../edit.ts'
import { likelyMeant } from '../../nearest.ts'
import { quote } from '../../quote.ts'

/** One change of one table, with its arguments. [TABLE-7] */
export type TableOp =
  | { readonly op: 'addRow'; readonly row: number; readonly side: Side; readonly values?: readonly string[] }
  | { readonly op: 'addColumn'; readonly col: number; readonly side: Side; readonly values?: readonly string[] }
  | { readonly op: 'deleteRow'; readonly row: number }
  | { readonly op: 'deleteColumn'; readonly col: number }
  | {
      readonly op: 'mergeCells'
      readonly fromRow: number
      readonly fromCol: number
      readonly toRow: number
      readonly toCol: number
    }
  | { readonly op: 'splitCell'; readonly row: number; readonly col: number }
  | ({ readonly op: 'setCellAttrs'; readonly row: number; readonly col: number } & CellAttrs)
  | { readonly op: 'moveRow'; readonly from: number; readonly to: number }
  | { readonly op: 'moveColumn'; readonly from: number; readonly to: number }
  | { readonly op: 'toggleHeaderRow' }
  | { readonly op: 'toggleHeaderColumn' }
  | { readonly op: 'setColumnWidth'; readonly col: number; readonly width?: number }

export type Side = 'before' | 'after'

/** The attributes of a cell to set; the value `''` removes an attribute. */
export interface CellAttrs {
  readonly backgroundColor?: string
  readonly align?: string
  readonly scope?: string
}

export type TableOpName = TableOp['op']

/** The arguments of an operation as a call sends them: the arguments of all operations, each absent or of its own type. */
export interface TableOpArgs extends CellAttrs {
  readonly op: string
  readonly row?: number | undefined
  readonly col?: number | undefined
  readonly side?: Side | undefined
  readonly fromRow?: number | undefined
  readonly fromCol?: number | undefined
  readonly toRow?: number | undefined
  readonly toCol?: number | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly width?: number | undefined
  /** The plain texts of the new cells, in order. [AG-81] */
  readonly values?: readonly string[] | undefined
}

type ArgName = Exclude<keyof TableOpArgs, 'op'>

const positions = ['row', 'col', 'fromRow', 'fromCol', 'toRow', 'toCol', 'from', 'to'] as const
/** Arguments that set the appearance of a cell. */
export const cellAttrNames = ['backgroundColor', 'align', 'scope'] as const
const argNames: readonly ArgName[] = [...positions, 'side', 'width', 'values', ...cellAttrNames]

const usedBy: { readonly [N in TableOpName]: readonly ArgName[] } = {
  addRow: ['row', 'side', 'values'],
  addColumn: ['col', 'side', 'values'],
  deleteRow: ['row'],
  deleteColumn: ['col'],
  mergeCells: ['fromRow', 'fromCol', 'toRow', 'toCol'],
  splitCell: ['row', 'col'],
  setCellAttrs: ['row', 'col', ...cellAttrNames],
  moveRow: ['from', 'to'],
  moveColumn: ['from', 'to'],
  toggleHeaderRow: [],
  toggleHeaderColumn: [],
  setColumnWidth: ['col', 'width'],
}

/** The names of all operations, in the order of the table. */
export const tableOpNames = Object.keys(usedBy) as readonly TableOpName[]

/** Reads an operation. Refuses a call without an argument that the operation needs, or with one that it does not use. [TABLE-8] */
export function readTableOp(args: TableOpArgs): TableOp | Refusal {
  if (!Object.hasOwn(usedBy, args.op)) return unknownOp(args.op)
  const op = args.op as TableOpName
  const used = usedBy[op]
  const given = argNames.filter((name) => args[name] !== undefined)
  const stray = given.find((name) => !used.includes(name))
  if (stray !== undefined) return notUsed(op, stray, used)
  for (const name of positions) {
    if (!used.includes(name)) continue
    const value = args[name]
    if (value === undefined || !Number.isInteger(value) || value < 0) return badPosition(op, name, value)
  }
  const width = args.width
  if (width !== undefined && !Number.isFinite(width)) return badArgument('width', 'a number of pixels', width)
  const side = args.side ?? 'after'
  if (side !== 'before' && side !== 'after') return badArgument('side', 'before or after', side)
  const values = Object.fromEntries(given.map((name) => [name, args[name]]))
  return { ...values, op, ...(used.includes('side') ? { side } : {}) } as unknown as TableOp
}

function unknownOp(op: string): Refusal {
  const nearest = likelyMeant(op, tableOpNames)
  return refused('ERR_BAD_ARGUMENT', `op must be one of ${tableOpNames.join(', ')}; "${quote(op)}" is none of them.`, {
    argument: 'op',
    expected: tableOpNames.join(', '),
    got: quote(op),
    ...(nearest === null ? {} : { nearest }),
    known: tableOpNames,
  })
}

function notUsed(op: TableOpName, argument: ArgName, known: readonly ArgName[]): Refusal {
  const uses = known.length === 0 ? 'no other argument' : `only ${known.join(', ')}`
  const nearest = likelyMeant(argument, known)
  return refused('ERR_BAD_ARGUMENT', `${op} does not use ${argument}; it takes ${uses}.`, {
    argument,
    expected: uses,
    ...(nearest === null ? {} : { nearest }),
    known,
  })
}

function badPosition(op: TableOpName, argument: ArgName, got: number | undefined): Refusal {
  const expected = 'an integer of at least 0'
  const came = got === undefined ? 'it is missing' : `${got} came`
  return refused('ERR_BAD_ARGUMENT', `${op} needs ${argument}, ${expected}; ${came}.`, {
    argument,
    expected,
    ...(got === undefined ? {} : { got }),
  })
}

function badArgument(argument: ArgName, expected: string, got: unknown): Refusal {
  return refused('ERR_BAD_ARGUMENT', `${argument} must be ${expected}; ${quote(String(got))} came.`, {
    argument,
    expected,
    got,
  })
}
