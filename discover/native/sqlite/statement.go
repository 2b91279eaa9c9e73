package sqlite

import (
	"fmt"

	"github.com/ncruces/go-sqlite3"
)

// statement is a prepared statement. One that is used again inside of its own loop is prepared twice.
type statement struct {
	db      *DB
	stmt    *sqlite3.Stmt
	columns map[string]int
	rows    int64 // so far
	row     Row
}

// statement prepares a statement, or returns an idle one; nil if it cannot be prepared.
func (d *DB) statement(sql string) (s *statement) {
	if d.err != nil {
		return nil
	}
	d.resetBudget()
	if list := d.idleStatements[sql]; len(list) > 0 {
		d.idleStatements[sql] = list[:len(list)-1]
		return list[len(list)-1]
	}
	defer func() {
		if err := recovered(recover()); err != nil {
			d.fail(err)
			s = nil
		}
	}()
	stmt, _, err := d.conn.Prepare(sql)
	if err != nil {
		d.fail(err)
		return nil
	}
	d.statements = append(d.statements, stmt)
	s = &statement{db: d, stmt: stmt, columns: map[string]int{}}
	for i := range stmt.ColumnCount() {
		s.columns[stmt.ColumnName(i)] = i
	}
	s.row = Row{statement: s}
	return s
}

// bind sets the arguments.
func (s *statement) bind(args []any) {
	defer func() { s.db.fail(recovered(recover())) }()
	for i, arg := range args {
		var err error
		switch v := arg.(type) {
		case int64:
			err = s.stmt.BindInt64(i+1, v)
		case string:
			err = s.stmt.BindText(i+1, v)
		default:
			err = fmt.Errorf("argument %d of %q is of the type %T", i+1, s.stmt.SQL(), arg)
		}
		s.db.fail(err)
	}
}

// step moves to the next row; it returns false if there is none, or if it cannot be read.
func (s *statement) step() (ok bool) {
	defer func() {
		if err := recovered(recover()); err != nil {
			s.db.fail(err)
			ok = false
		}
	}()
	if s.db.err != nil {
		return false
	}
	if s.rows++; s.rows > s.db.image.maxRows() {
		s.db.fail(errEndless)
		return false
	}
	s.db.budget.left++ // SQLite checks the context once more for each step
	if s.stmt.Step() {
		return true
	}
	s.db.fail(s.stmt.Err())
	return false
}

// reset prepares the statement for another use. Its error is that of the last step, which is recorded already.
func (s *statement) reset() {
	defer func() { _ = recover() }()
	_ = s.stmt.Reset()
	s.rows = 0
}

// release makes the statement idle.
func (s *statement) release() {
	s.reset()
	sql := s.stmt.SQL()
	s.db.idleStatements[sql] = append(s.db.idleStatements[sql], s)
}
