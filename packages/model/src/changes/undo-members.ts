import { equalJson, type Json, type JsonObject, omitMembers, setMember } from '../json.ts'
import type { MemberChange } from './change-set.ts'

/** Restores the members that still have the value that the call gave them. Calls `conflict` for each member with a third value. */
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
