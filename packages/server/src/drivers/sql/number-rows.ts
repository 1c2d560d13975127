/** Rows of numbers as drivers return them when each row is an array. */
export type NumberRows = readonly (readonly (number | null)[])[]

/** Returns the numbers of all rows in one array, with NaN for null. */
export function flatNumbers(rows: NumberRows): Float64Array<ArrayBuffer> {
  const columns = rows[0]?.length ?? 0
  const numbers = new Float64Array(rows.length * columns)
  let at = 0
  for (const row of rows) for (let column = 0; column < columns; column++) numbers[at++] = row[column] ?? Number.NaN
  return numbers
}
