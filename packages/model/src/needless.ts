import { refused, type Refusal } from './edit.ts'

/** Refuses an argument that has no effect beside the other arguments of its call. [AG-33] */
export function needlessArgument(argument: string, why: string, expected: string): Refusal {
  return refused('ERR_BAD_ARGUMENT', `${argument} has no effect here, since ${why}; expected ${expected}.`, {
    argument,
    expected,
  })
}
