import { equalJson, type Json, type JsonObject, omitMembers, setMember } from '../json.ts'
import type { MemberChange } from './change-set.ts'

/** Sets members back that have the value they got. `conflict` is told of the others. */
export function undoMembers(
  value: JsonObject,
  changes: readonly MemberChange[],
  conflict: (name: string) => void = () => {},
): JsonObject {
  let result = value
  for (const { name, before, after } of changes) {
    const present: Json | undefined = Object.hasOwn(result, name) ? result[name] : undefined
    if (equalJson(present, before)) continue
    if (!equalJson(present, after)) conflict(name)
    else result = before === undefined ? omitMembers(result, name) : setMember(result, name, before)
  }
  return result
}
