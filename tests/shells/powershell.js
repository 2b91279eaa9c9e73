// Prints the parts of stdin that do not parse as PowerShell. The argument is the folder of tree-sitter with its grammars.
const fs = require("fs"), path = require("path")
const folder = process.argv[2]
const { Language, Parser } = require(path.join(folder, "tree-sitter.js"))

const wrong = (node) => (node.isError || node.isMissing ? [node] : node.children.flatMap(wrong))

async function main() {
	await Parser.init()
	const parser = new Parser()
	parser.setLanguage(await Language.load(path.join(folder, "tree-sitter-powershell.wasm")))
	for (const node of wrong(parser.parse(fs.readFileSync(0, "utf8")).rootNode)) {
		console.log(`line ${node.startPosition.row + 1}: ${node.text}`)
	}
}
main()
