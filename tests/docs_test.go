package tests_test

import (
	"go/ast"
	"go/token"
	"slices"
	"testing"
)

// selfEvident are the methods whose meaning the standard library gives: they need no comment.
func selfEvident(method string) bool {
	return slices.Contains([]string{"Error", "Unwrap", "Is", "As", "String", "Len", "Less", "Swap", "MarshalJSON", "UnmarshalText"}, method)
}

// Every exported name of a package that others import has a comment.
func TestExportedNamesHaveComments(t *testing.T) {
	for _, f := range files(t) {
		if f.isTest() || f.Name.Name == "main" {
			continue
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !(d.Recv != nil && selfEvident(d.Name.Name)) {
					t.Errorf("%s: %s has no comment", f.at(d), d.Name.Name)
				}
			case *ast.GenDecl:
				for _, name := range undocumented(d) {
					t.Errorf("%s: %s has no comment", f.at(name), name.Name)
				}
			}
		}
	}
}

// exportedReceiver is true of functions, and of methods that others can see.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

// undocumented are the exported names of a declaration that neither their own comment nor their group's explains.
func undocumented(d *ast.GenDecl) []*ast.Ident {
	if d.Tok == token.IMPORT {
		return nil
	}
	var out []*ast.Ident
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
				out = append(out, s.Name)
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					out = append(out, name)
				}
			}
		}
	}
	return out
}
