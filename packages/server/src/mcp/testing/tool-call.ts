import type { Access } from '../../access/access.ts'
import { NO_LIMITS } from '../../access/testing/no-limits.ts'
import type { JsonObject, ToolCall, ToolDefinition } from '../tool.ts'

/** Builds a call of member ann with these arguments. */
export function toolCall(
  args: JsonObject,
  more: Partial<Omit<ToolCall, 'access'>> & { readonly access?: Partial<Access> } = {},
): ToolCall {
  return {
    isStatic: false,
    args,
    view: { toolsets: null, readonly: false, extra: true },
    clientName: null,
    signal: new AbortController().signal,
    progress() {},
    ...more,
    access: { sub: 'ann', workspaceId: 'default', role: 'member', limits: NO_LIMITS, ...more.access },
  }
}

/** Runs a tool without checking arguments or rights. Returns the members of a success, or the facts of a failure with its code. */
export async function runTool(tools: readonly ToolDefinition[], name: string, call: ToolCall): Promise<JsonObject> {
  const tool = tools.find((one) => one.name === name)
  if (tool === undefined) throw new Error(`there is no tool ${name}`)
  const outcome = tool.flaw?.(call.args) ?? (await tool.run(call))
  return outcome.kind === 'success' ? outcome.structured : { code: outcome.code, message: outcome.message, ...outcome.facts }
}
