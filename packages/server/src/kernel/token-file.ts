/** The name that the file with the static token of MCP has in the data directory and in a backup. [MCP-19] */
export const TOKEN_FILE = 'mcp_token'
