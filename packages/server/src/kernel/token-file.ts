/** Name of the file with the static MCP token, in the data directory and in a backup. [MCP-19] */
export const TOKEN_FILE = 'mcp_token'
