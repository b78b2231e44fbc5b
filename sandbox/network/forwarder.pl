# forwarder.py for images that have Perl and no Python, as every small Debian image does.
# A process per connection; ends when the socket cannot be reached.
use strict;
use warnings;
use Socket;

my ($path, $port) = @ARGV;
$SIG{CHLD} = 'IGNORE';
$SIG{PIPE} = 'IGNORE';

sub proxy {
    socket(my $out, PF_UNIX, SOCK_STREAM, 0) or return;
    connect($out, sockaddr_un($path)) or return;
    return $out;
}

sub carry {
    my %other = @_;
    my %source = map { fileno($_) => $_ } map { $_->[0] } values %other;
    while (%source) {
        my $bits = '';
        vec($bits, $_, 1) = 1 for keys %source;
        select($bits, undef, undef, undef) > 0 or next;
        for my $number (grep { vec($bits, $_, 1) } keys %source) {
            my $to = $other{$number}[1];
            if (sysread($source{$number}, my $data, 65536)) {
                my $sent = 0;
                while ($sent < length $data) {
                    my $size = syswrite($to, $data, length($data) - $sent, $sent);
                    return unless defined $size;
                    $sent += $size;
                }
            } else {
                delete $source{$number};
                shutdown($to, 1);
            }
        }
    }
}

socket(my $listener, PF_INET, SOCK_STREAM, 0) or die;
setsockopt($listener, SOL_SOCKET, SO_REUSEADDR, 1);
bind($listener, sockaddr_in($port, INADDR_LOOPBACK)) or die;
listen($listener, 256) or die;
my $hello = proxy() or exit 1;
close $hello;
while (1) {
    accept(my $client, $listener) or next;
    my $pid = fork;
    if (defined $pid && $pid == 0) {
        close $listener;
        my $out = proxy() or exit 1;
        carry(fileno($client) => [$client, $out], fileno($out) => [$out, $client]);
        exit 0;
    }
    close $client;
}
